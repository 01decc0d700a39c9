"""What a DynamicViT is trained for: to be right, to be as its teacher, and to keep so many tokens.

Each term is a function of what a `DynamicViTTrainer` gives.
"""

import keras
from keras import ops

from keras_vit.step import PairwiseLoss, RatioLoss


def classification(labels, logits):
    """Returns the mean cross-entropy.

    Args:
        labels: class numbers `[b]`, or targets `[b, k]`, which may be mixed or smoothed.
        logits: `[b, k]`.
    """
    if len(labels.shape) == 1:
        labels = ops.one_hot(labels, ops.shape(logits)[-1], dtype=logits.dtype)
    return -ops.mean(ops.sum(ops.cast(labels, logits.dtype) * ops.log_softmax(logits), axis=-1))


def teacher_divergence(logits, teacher_logits):
    """Returns the mean of KL(teacher, student) over the examples, from logits `[b, k]`."""
    ours, theirs = ops.log_softmax(logits), ops.log_softmax(teacher_logits)
    return ops.mean(ops.sum(ops.exp(theirs) * (theirs - ours), axis=-1))


def keep_ratio(kept, ratios):
    """Returns the squared distance of the shares that are kept from those that shall be.

    `mean_s mean_b (ratio_s - kept_bs)^2`.

    Args:
        kept: `[b, stages]`, the share of each image's patch tokens that is kept.
        ratios: one number a stage.
    """
    return ops.mean(ops.square(ops.convert_to_tensor(ratios, dtype=kept.dtype) - kept))


@keras.saving.register_keras_serializable(package="keras_vit")
class TokenDistillationLoss(RatioLoss):
    """Kept tokens are to be the teacher's: the mean of the squared distances.

    The mean is over all kept tokens of the whole batch and their channels, of which an image that
    keeps more has more: a *ratio* loss. It is 0 where no token is kept.

    Call arguments:
        y_true: not looked at; may be None.
        y_pred: what a `DynamicViTTrainer` gives: `distances` and `distance_counts`, `[b]`.

    Reference:
        Rao et al., *DynamicViT*, 2021, arXiv 2106.02034.

    Example:

    >>> given = {"distances": keras.ops.array([6.0, 1.0]), "distance_counts": [4.0, 10.0]}
    >>> float(TokenDistillationLoss()(None, given))
    0.5
    """

    def __init__(self, name="token_distillation_loss"):
        super().__init__(name=name)

    def terms(self, y_true, y_pred, sample_weight=None):
        if sample_weight is not None:
            raise ValueError("TokenDistillationLoss takes no `sample_weight`.")
        return ops.sum(y_pred["distances"]), ops.sum(y_pred["distance_counts"])

    def get_config(self):
        return {"name": self.name}


@keras.saving.register_keras_serializable(package="keras_vit")
class DynamicViTLoss(PairwiseLoss):
    """All that a DynamicViT is trained for.

    `classification + ratio_weight * keep_ratio + teacher_weight * teacher_divergence
    + token_weight * token distillation`.

    Three terms are means over the examples, one a quotient of two sums over the batch. A sum of
    both is neither of the kind *example* nor of one *ratio*: it is computed of the outputs of the
    whole batch, as a *pairwise* loss is, so that any number of replicas gives what one device
    gives. The model's outputs are a few numbers an image, cheap to gather; under several replicas
    the forward pass is done twice.

    Args:
        ratios: the share of patch tokens to keep from each stage on: the config's `keep_ratios`.
        ratio_weight: 2 in the paper, 5 in their code for DeiT-B.
        teacher_weight: of the divergence from the teacher's logits.
        token_weight: of the distance from the teacher's tokens.
        name: the loss's name.

    Call arguments:
        y_true: class numbers `[b]` or targets `[b, num_classes]`.
        y_pred: what a `DynamicViTTrainer` gives.

    Reference:
        Rao et al., *DynamicViT*, 2021, arXiv 2106.02034.
    """

    def __init__(
        self,
        ratios,
        ratio_weight=2.0,
        teacher_weight=0.5,
        token_weight=0.5,
        name="dynamic_vit_loss",
    ):
        super().__init__(name=name)
        self.ratios = tuple(ratios)
        self.ratio_weight = ratio_weight
        self.teacher_weight = teacher_weight
        self.token_weight = token_weight

    def call(self, y_true, y_pred):
        logits = y_pred["logits"]
        distance = ops.divide_no_nan(*TokenDistillationLoss().terms(y_true, y_pred))
        return (
            classification(y_true, logits)
            + self.ratio_weight * keep_ratio(y_pred["kept"], self.ratios)
            + self.teacher_weight * teacher_divergence(logits, y_pred["teacher_logits"])
            + self.token_weight * distance
        )

    def get_config(self):
        return {
            "ratios": self.ratios,
            "ratio_weight": self.ratio_weight,
            "teacher_weight": self.teacher_weight,
            "token_weight": self.token_weight,
            "name": self.name,
        }
