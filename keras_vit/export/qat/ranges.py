"""Layers that round what passes through them, in one of several forms."""

import contextlib

from keras import ops

from keras_vit.export.qat.rounding import fake_quant, fake_quant_kernel
from keras_vit.layers import Layer

# What a tensor's zero counts as where its reciprocal root is taken: the root's range cuts it off.
TINY = 1e-12
SHARES = (0.0, 255 / 256)  # TFLite stores a softmax so, whatever its values
PIXELS = (0.0, 255.0)


class Rounded(Layer):
    """Rounds a tensor to a range that is calibrated and then learned.

    The range is what calibration found times the exponential of `spread`, which starts at zero: a
    step of an optimizer changes a large and a small range by the same share, and weight decay
    draws it to the calibrated one.

    Attributes:
        form: function (this layer, x) to what it gives; `forms` exchanges it.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.calibrated = self._pair("calibrated", "ones", trainable=False)
        self.spread = self._pair("spread", "zeros", trainable=True)
        self.built = True

    @staticmethod
    def form(layer, x):
        return fake_quant(x, *layer.range())

    def call(self, x):
        return self.form(self, x)

    def range(self):
        """Returns (low, high) as scalars."""
        ends = ops.convert_to_tensor(self.calibrated) * ops.exp(self.spread)
        return ends[0], ends[1]

    def compute_output_shape(self, input_shape):
        return input_shape

    def _pair(self, name, start, trainable):
        return self.add_weight(
            name=name, shape=(2,), initializer=start, trainable=trainable, dtype="float32"
        )


class RoundedSquares(Rounded):
    """The same for what a reciprocal root is taken of: never zero in training."""

    @staticmethod
    def form(layer, x):
        return ops.maximum(fake_quant(x, *layer.range()), TINY)


class RoundedTo(Layer):
    """Rounds a tensor to a range that is given: that of pixels, or of a softmax.

    Args:
        ends: (low, high).
    """

    def __init__(self, ends, **kwargs):
        super().__init__(**kwargs)
        self.ends = tuple(ends)
        self.built = True

    form = staticmethod(Rounded.form)

    def call(self, x):
        return self.form(self, x)

    def range(self):
        """Returns (low, high)."""
        return self.ends

    def compute_output_shape(self, input_shape):
        return input_shape


class RoundedKernel(Layer):
    """Rounds a kernel; the largest weight of each output channel is its range."""

    @staticmethod
    def form(layer, kernel):
        return fake_quant_kernel(kernel)

    def call(self, kernel):
        return self.form(self, ops.convert_to_tensor(kernel))

    def compute_output_shape(self, input_shape):
        return input_shape


@contextlib.contextmanager
def forms(model, chosen):
    """Exchanges what the layers of a model do, while the context lasts.

    Args:
        model: a Keras model.
        chosen: dict of class to function (layer, x) to what it gives.
    """
    layers = [one for one in model._flatten_layers() if isinstance(one, tuple(chosen))]
    for layer in layers:
        form = next(form for kind, form in chosen.items() if isinstance(layer, kind))
        # Past Keras's own __setattr__, which is locked once a layer is built.
        object.__setattr__(layer, "form", form)
    try:
        yield layers
    finally:
        for layer in layers:
            object.__delattr__(layer, "form")
