"""What the channels of a layer reach on images."""

import dataclasses

import keras
import numpy as np

BATCH = 16


@dataclasses.dataclass
class Channels:
    """The values of each channel, `[width]`.

    Args:
        largest: largest absolute value.
        total: sum.
        count: how many values a channel had.
    """

    largest: np.ndarray
    total: np.ndarray
    count: int

    @property
    def mean(self):
        """The mean of each channel."""
        return self.total / self.count


def observed(model, layers, images, inputs=False):
    """Runs a model on images and looks at layers, as they are called inside it.

    Args:
        model: a functional model.
        layers: layers anywhere in it, whose values are `[..., width]`.
        images: `[n, h, w, c]`.
        inputs: whether to look at what goes in, instead of what comes out.

    Returns:
        A list of `Channels`, one a layer.
    """
    found = [None] * len(layers)

    def watched(index, call):
        def observing_call(x, *args, **kwargs):
            y = call(x, *args, **kwargs)
            values = keras.ops.convert_to_numpy(x if inputs else y)
            found[index] = _joined(found[index], values.reshape(-1, values.shape[-1]))
            return y

        return observing_call

    for index, layer in enumerate(layers):
        # Past Keras's own __setattr__, which is locked once a layer is built.
        object.__setattr__(layer, "call", watched(index, layer.call))
    try:
        for start in range(0, len(images), BATCH):
            model(images[start : start + BATCH], training=False)
    finally:
        for layer in layers:
            object.__delattr__(layer, "call")
    return found


def _joined(found, values):
    new = Channels(np.abs(values).max(axis=0), values.sum(axis=0, dtype="float64"), len(values))
    if found is None:
        return new
    largest = np.maximum(found.largest, new.largest)
    return Channels(largest, found.total + new.total, found.count + new.count)
