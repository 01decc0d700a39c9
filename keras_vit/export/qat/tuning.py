"""A short fine-tuning of a quantisation-aware model."""

import keras

from keras_vit.data import training_batches
from keras_vit.step import exact


def fine_tune(model, records, epochs, batch_size, learning_rate, augment=(), seed=0):
    """Trains with AdamW and a rate that falls to zero by a cosine; gradients are clipped at one.

    Args:
        model: a `QuantizationAware`.
        records: `Records` with one class an image.
        epochs: passes over the images.
        batch_size: images a step.
        learning_rate: the rate of the first step.
        augment: what `training_batches` takes.
        seed: of order and augmentation.

    Returns:
        Keras's `History`.
    """
    steps = max(1, len(records) // batch_size)
    batches = training_batches(records, model.preprocessing, batch_size, seed, augment=augment)
    rate = keras.optimizers.schedules.CosineDecay(learning_rate, epochs * steps)
    exact(model, clip_norm=1.0)
    model.compile(
        keras.optimizers.AdamW(rate),
        keras.losses.CategoricalCrossentropy(from_logits=True),
    )
    return model.fit(batches, epochs=epochs, steps_per_epoch=steps, shuffle=False, verbose=0)
