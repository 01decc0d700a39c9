"""What a checked step trains with and on, the same on each road."""

import keras

from keras_vit.models import CLIP, MAE
from keras_vit.objectives import ContrastiveLoss, MaskedPixelLoss
from keras_vit.training.optimizers import adamw


def compiled(model):
    """Compiles a model with AdamW and the loss of what it learns, and returns it."""
    if isinstance(model, CLIP):
        loss = ContrastiveLoss()
    elif isinstance(model, MAE):
        loss = MaskedPixelLoss()
    else:
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(adamw(model, learning_rate=1e-3, weight_decay=0.05), loss)
    return model


def batch_of(model, batch_size):
    """Returns a batch as `fit` takes it, of symbolic tensors: inputs, and labels where there are.

    Args:
        model: a model of this package.
        batch_size: examples of the batch.
    """
    inputs = keras.tree.map_structure(
        lambda tensor: keras.KerasTensor((batch_size, *tensor.shape[1:]), tensor.dtype),
        model.input,
    )
    labels = keras.KerasTensor((batch_size,), "int32")
    return (inputs,) if isinstance(model, CLIP | MAE) else (inputs, labels)
