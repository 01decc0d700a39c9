"""Ranges of a model's tensors from the values that they have on images."""

import keras
import numpy as np

from keras_vit.export.calibration import calibration_images
from keras_vit.export.qat.ranges import Rounded, RoundedKernel, RoundedTo, forms

BATCH = 16


def calibrate(model, calibration):
    """Takes the ranges from the lowest and the highest value of each tensor, nothing rounded.

    What was learned of them before is forgotten.

    Args:
        model: a `QuantizationAware`.
        calibration: what `calibration_images` takes.
    """
    images = calibration_images(calibration, model.preprocessing)
    seen = {}

    def look(layer, x):
        values = keras.ops.convert_to_numpy(x)
        low, high = seen.get(id(layer), (0.0, 0.0))
        seen[id(layer)] = min(low, values.min()), max(high, values.max())
        return x

    watched = {Rounded: look, RoundedTo: unchanged, RoundedKernel: unchanged}
    with forms(model, watched) as layers:
        for start in range(0, len(images), BATCH):
            batch = model.preprocessing.normalize(images[start : start + BATCH])
            model(batch, training=False)
    for layer in layers:
        if isinstance(layer, Rounded):
            layer.calibrated.assign(np.array(seen[id(layer)], "float32"))
            layer.spread.assign(np.zeros(2))


def unchanged(layer, x):
    """The form that leaves a tensor as it is."""
    return x
