"""What a checked step trains with, the same on each road."""

import keras

from keras_vit.training.optimizers import adamw


def compiled(model):
    """Compiles a model with AdamW and cross-entropy, and returns it."""
    model.compile(
        adamw(model, learning_rate=1e-3, weight_decay=0.05),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    return model
