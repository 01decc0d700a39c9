"""Runs a Keras model: a `.keras` file, or a model in memory."""

import zipfile
from pathlib import Path

import keras
import numpy as np

from keras_vit.runtime.predictor import BATCH_SIZE, Predictor


class KerasFile(Predictor):
    """A Keras model that has a `preprocessing`.

    Args:
        source: a `.keras` file, or a Keras model in memory.

    Attributes:
        model: the Keras model.

    Raises:
        ValueError: if the file is cut short, damaged or no Keras model, or if the model has no
            `preprocessing`.
    """

    kind = "keras"

    def __init__(self, source):
        in_memory = isinstance(source, keras.Model)
        self.model = source if in_memory else _load(source)
        preprocessing = getattr(self.model, "preprocessing", None)
        if preprocessing is None:
            raise ValueError(
                f"{self.model.name if in_memory else source} is a Keras model without a "
                "`preprocessing`, so its pictures cannot be prepared. keras_vit runs the models "
                "that `create_model` gives."
            )
        size = _weight_bytes(self.model) if in_memory else Path(source).stat().st_size
        super().__init__(None if in_memory else source, preprocessing, size)
        self._forward = compiled(lambda images: self.model(images, training=False))

    def _run(self, pixels):
        starts = range(0, len(pixels), BATCH_SIZE)
        batches = [self._batch(pixels[start : start + BATCH_SIZE]) for start in starts]
        return np.concatenate(batches) if batches else np.zeros((0, self.model.output_shape[-1]))

    def _batch(self, pixels):
        images = self.preprocessing.normalize(pixels)
        return keras.ops.convert_to_numpy(keras.ops.cast(self._forward(images), "float32"))


def compiled(call):
    """Returns a call as one graph where that needs no more than TensorFlow; as it is elsewhere."""
    if keras.backend.backend() != "tensorflow":
        return call
    import tensorflow as tf

    # Not `model.predict`: it would compile with XLA, anew for each size of the last batch.
    return tf.function(call, reduce_retracing=True, autograph=False)


def _load(path):
    # Keras reports a damaged file by whatever breaks first, so the archive is looked at before.
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no readable `.keras` file: it is cut short or another kind.")
    try:
        return keras.saving.load_model(path, compile=False)
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(f"{path} cannot be loaded as a Keras model: {reason}") from error


def _weight_bytes(model):
    return sum(weight.numpy().nbytes for weight in model.weights)
