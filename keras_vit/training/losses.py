"""The losses of recipes, and where a recipe's label smoothing is done."""

import keras
from keras import ops

from keras_vit.data.augment import augmentations


@keras.saving.register_keras_serializable(package="keras_vit")
class SigmoidCrossentropy(keras.losses.Loss):
    """Binary cross-entropy of every class, summed over the classes: big_vision's `sigmoid_xent`.

    Keras's `BinaryCrossentropy` takes the mean over the classes, so that the norm at which
    gradients are clipped would be another one.

    Call arguments:
        y_true: float `[b, k]`, 0 to 1.
        y_pred: logits `[b, k]`.
    """

    kind = "example"

    def call(self, y_true, y_pred):
        y_true = ops.cast(y_true, y_pred.dtype)
        return ops.sum(ops.binary_crossentropy(y_true, y_pred, from_logits=True), axis=-1)


# Name -> label smoothing -> loss. That of sigmoid losses is done in the data: see below.
LOSSES = {
    "softmax": lambda smoothing: keras.losses.CategoricalCrossentropy(
        from_logits=True, label_smoothing=smoothing
    ),
    "sigmoid": lambda smoothing: SigmoidCrossentropy(),
    "sigmoid_mean": lambda smoothing: keras.losses.BinaryCrossentropy(from_logits=True),
}


def loss_of(recipe):
    """Returns the loss that a recipe trains with; it takes logits and one target a class."""
    return LOSSES[recipe.loss](recipe.label_smoothing - smoothing_in_data(recipe))


def smoothing_in_data(recipe):
    """Returns the label smoothing that `training_batches` does; what is left is the loss's.

    Labels are smoothed before they are mixed, as timm does, and for sigmoid losses, where Keras
    would smooth towards one half.
    """
    mixes = any(part.stage == "labelled" for part in augmentations(recipe.augment))
    return recipe.label_smoothing if mixes or recipe.loss != "softmax" else 0.0
