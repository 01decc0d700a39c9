"""Runs a SavedModel that keras_vit exported."""

from pathlib import Path

import numpy as np

from keras_vit.layers.extras import require
from keras_vit.runtime.embedded import PREPROCESSING, parsed
from keras_vit.runtime.predictor import BATCH_SIZE, Predictor

DEFAULT = "serving_default"


def newest_version(path):
    """Returns the SavedModel of the highest number in the folder `path`; without one, `path`.

    Args:
        path: `pathlib.Path` of anything.
    """
    found = path.glob("*/saved_model.pb") if path.is_dir() else ()
    versions = [one.parent for one in found if one.parent.name.isdecimal()]
    return max(versions, key=lambda one: int(one.name), default=path)


class SavedModel(Predictor):
    """A SavedModel folder with its description among its assets.

    Args:
        path: the folder that holds `saved_model.pb`.

    Raises:
        ValueError: if the folder is damaged, or was not written by keras_vit.
        ImportError: if TensorFlow is not installed.
    """

    kind = "saved_model"

    def __init__(self, path):
        preprocessing, self._loaded, size = opened(path)
        if DEFAULT not in self._loaded.signatures:
            raise ValueError(
                f"{path} cannot be loaded as a SavedModel: it has no signature {DEFAULT!r}."
            )
        self._signature = self._loaded.signatures[DEFAULT]
        super().__init__(Path(path), preprocessing, size)

    def _run(self, pixels):
        # An empty batch runs too, and gives the number of classes.
        starts = range(0, max(len(pixels), 1), BATCH_SIZE)
        return np.concatenate([self._batch(pixels[s : s + BATCH_SIZE]) for s in starts])

    def _batch(self, pixels):
        return called(self._signature, pixels)["logits"]


def opened(path):
    """Returns (preprocessing, what TensorFlow loads, bytes) of a folder that keras_vit wrote.

    Raises:
        ValueError, ImportError: as `SavedModel`.
    """
    path = Path(path)
    tf = require("tensorflow", extra="tensorflow")
    description = path / "assets" / PREPROCESSING
    if not description.is_file():
        raise ValueError(
            f"{path} holds no `assets/{PREPROCESSING}`: it was not written by keras_vit, or not "
            "whole. Export the model again."
        )
    preprocessing = parsed(description.read_text("utf-8"), path)
    try:
        loaded = tf.saved_model.load(str(path))
    except Exception as error:  # protobuf, file and graph errors have no common type
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(f"{path} cannot be loaded as a SavedModel: {reason}") from error
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return preprocessing, loaded, size


def called(signature, pixels):
    """Returns what a signature gives for pixels, as numpy arrays by name."""
    tf = require("tensorflow", extra="tensorflow")
    found = signature(images=tf.constant(pixels.astype("float32")))
    return {name: value.numpy() for name, value in found.items()}
