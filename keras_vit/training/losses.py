"""The losses of recipes, and where a recipe's label smoothing is done."""

import keras
from keras import ops

from keras_vit.data.augment import augmentations
from keras_vit.objectives import ContrastiveLoss, DetectionLoss, MaskedPixelLoss, SigmoidLoss
from keras_vit.training.distillation import Distillation


@keras.saving.register_keras_serializable(package="keras_vit")
class SigmoidCrossentropy(keras.losses.Loss):
    """Binary cross-entropy of every class, summed over the classes: big_vision's `sigmoid_xent`.

    Keras's `BinaryCrossentropy` takes the mean over the classes, so that the norm at which
    gradients are clipped would be another one.

    Args:
        presence: what the share of a class in the target counts, where the rest counts 1: a list of
            numbers, one a class, or None for 1. PyTorch calls it `pos_weight`.
        mean: whether the mean over the classes is taken after all.

    Call arguments:
        y_true: float `[b, k]`, 0 to 1.
        y_pred: logits `[b, k]`.
    """

    kind = "example"

    def __init__(self, presence=None, mean=False, name="sigmoid_crossentropy", **kwargs):
        super().__init__(name=name, **kwargs)
        self.presence = None if presence is None else [float(weight) for weight in presence]
        self.mean = mean

    def call(self, y_true, y_pred):
        y_true = ops.cast(y_true, y_pred.dtype)
        losses = ops.binary_crossentropy(y_true, y_pred, from_logits=True)
        if self.presence is not None:
            more = ops.cast(self.presence, y_pred.dtype) - 1
            losses = losses + more * y_true * ops.softplus(-y_pred)
        return (ops.mean if self.mean else ops.sum)(losses, axis=-1)

    def get_config(self):
        return {**super().get_config(), "presence": self.presence, "mean": self.mean}


DETECTION = "detection"
# Name -> label smoothing -> loss. That of sigmoid losses is done in the data: see below.
LOSSES = {
    "softmax": lambda smoothing: keras.losses.CategoricalCrossentropy(
        from_logits=True, label_smoothing=smoothing
    ),
    "sigmoid": lambda smoothing: SigmoidCrossentropy(),
    "sigmoid_mean": lambda smoothing: keras.losses.BinaryCrossentropy(from_logits=True),
    "contrastive": lambda smoothing: ContrastiveLoss(),
    "pair_sigmoid": lambda smoothing: SigmoidLoss(),
    "masked_pixels": lambda smoothing: MaskedPixelLoss(),
    "masked_raw_pixels": lambda smoothing: MaskedPixelLoss(normalise=False),
    # Of the model's own anchors: `Prepared.compiled` makes it.
    DETECTION: lambda smoothing: DetectionLoss,
}


def loss_of(recipe, presence=None):
    """Returns the loss that a recipe trains with; it takes logits and one target a class.

    Args:
        recipe: a `Recipe`.
        presence: weights of the classes where an image may have several, see `presence_weights`.
    """
    if presence is not None:
        return SigmoidCrossentropy(presence, mean=recipe.loss == "sigmoid_mean")
    smoothing = recipe.label_smoothing - smoothing_in_data(recipe)
    if recipe.distillation:
        return Distillation(**recipe.distillation).objective(smoothing)
    return LOSSES[recipe.loss](smoothing)


def smoothing_in_data(recipe):
    """Returns the label smoothing that `training_batches` does; what is left is the loss's.

    Labels are smoothed before they are mixed, as timm does, and for sigmoid losses, where Keras
    would smooth towards one half.
    """
    mixes = any(part.stage == "labelled" for part in augmentations(recipe.augment))
    return recipe.label_smoothing if mixes or recipe.loss != "softmax" else 0.0
