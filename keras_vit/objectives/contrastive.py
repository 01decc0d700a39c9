"""Losses of pairs: every image of the whole batch meets every text of it.

Both are of the kind *pairwise*: under any strategy the exact step gathers the vectors of all
replicas first, so that the batch is the global one and the gradient that of one device.
"""

import keras
from keras import ops

from keras_vit.step import PairwiseLoss


def pair_logits(outputs):
    """Returns the logits of all pairs, `[b, b]`: a row an image, a column a text.

    Args:
        outputs: what a `CLIP` gives: `images` and `texts`, vectors of length one `[b, width]`;
            `scale` and, where there is one, `bias`, `[b, 1]`.
    """
    products = ops.matmul(outputs["images"], ops.transpose(outputs["texts"]))
    logits = outputs["scale"] * products
    return logits + outputs["bias"] if "bias" in outputs else logits


@keras.saving.register_keras_serializable(package="keras_vit")
class ContrastiveLoss(PairwiseLoss):
    """Each image is to find its text among all of the batch, and each text its image.

    `½ (mean_i CE(logits[i, :], i) + mean_j CE(logits[:, j], j))` of the logits of all pairs. Of a
    batch of one there is nothing to tell apart: its loss is zero, and so is its gradient. Texts
    that come twice in a batch count as different ones.

    Call arguments:
        y_true: None; the pairs are those of the same place.
        y_pred: what a `CLIP` gives, a dict.

    Returns:
        A scalar.

    Reference:
        Radford et al., *Learning Transferable Visual Models From Natural Language Supervision*,
        2021, arXiv 2103.00020.

    Example:

    >>> one = {"images": [[1.0, 0.0], [0.0, 1.0]], "texts": [[1.0, 0.0], [0.0, 1.0]]}
    >>> round(float(ContrastiveLoss()(None, {**one, "scale": [[2.0], [2.0]]})), 6)
    0.126928
    """

    def __init__(self, name="contrastive_loss"):
        super().__init__(name=name)

    def call(self, y_true, y_pred):
        logits = pair_logits(y_pred)
        rows, columns = (ops.logsumexp(logits, axis=axis) for axis in (1, 0))
        return ops.mean(0.5 * (rows + columns) - ops.diagonal(logits))

    def get_config(self):
        return {"name": self.name}


@keras.saving.register_keras_serializable(package="keras_vit")
class SigmoidLoss(PairwiseLoss):
    """Each pair is to be told as true or false by itself: SigLIP's loss.

    `-(1 / b) Σ_ij log σ(z_ij logits[i, j])` with `z` 1 for the pairs of the same place and -1 for
    all others. The model needs a `logit_bias`, since almost all pairs are false ones. A batch of
    one holds one true pair, and pulls it together.

    Call arguments:
        y_true: None; the pairs are those of the same place.
        y_pred: what a `CLIP` gives, a dict.

    Returns:
        A scalar.

    Raises:
        ValueError: if the model has no `logit_bias`.

    Reference:
        Zhai et al., *Sigmoid Loss for Language Image Pre-Training*, 2023, arXiv 2303.15343.

    Example:

    >>> one = {"images": [[1.0, 0.0], [0.0, 1.0]], "texts": [[1.0, 0.0], [0.0, 1.0]]}
    >>> numbers = {"scale": [[2.0], [2.0]], "bias": [[-1.0], [-1.0]]}
    >>> round(float(SigmoidLoss()(None, {**one, **numbers})), 6)
    0.626523
    """

    def __init__(self, name="sigmoid_loss"):
        super().__init__(name=name)

    def call(self, y_true, y_pred):
        if "bias" not in y_pred:
            raise ValueError(
                "The sigmoid loss needs a model with a `logit_bias`, such as "
                "`create_model('clip_b16', logit_scale=math.log(10), logit_bias=-10.0)`. "
                f"Received: outputs {sorted(y_pred)}."
            )
        logits = pair_logits(y_pred)
        signs = 2.0 * ops.eye(ops.shape(logits)[0], dtype=logits.dtype) - 1.0
        return ops.mean(ops.sum(ops.softplus(-signs * logits), axis=1))

    def get_config(self):
        return {"name": self.name}
