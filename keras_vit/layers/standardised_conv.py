"""Convolution by a kernel that is standardised at each call."""

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.choices import check_choice


def by_variance(centred):
    """`w / sqrt(var + 1e-8)`, timm's."""
    return centred * ops.rsqrt(ops.mean(centred * centred, axis=(0, 1, 2)) + 1e-8)


def by_deviation(centred):
    """`w / (std + 1e-5)`, the JAX code's."""
    return centred / (ops.sqrt(ops.mean(centred * centred, axis=(0, 1, 2))) + 1e-5)


# What each output channel of a centred kernel (rows, columns, in, out) is divided by.
STANDARDISATIONS = {"variance": by_variance, "deviation": by_deviation}


def standardisation_named(name):
    """Returns the standardisation called `name`.

    Raises:
        ValueError: if there is none.
    """
    check_choice("standardisation", name, STANDARDISATIONS)
    return STANDARDISATIONS[name]


@keras.saving.register_keras_serializable(package="keras_vit")
class StandardisedConv(Layer):
    """A convolution without bias, each of whose filters has mean 0 and variance 1.

    The kernel itself is not changed: it is standardised at each call, in float32 also under a
    half-precision policy, and gradients go through that.

    Args:
        width: number of output channels.
        kernel_size: side of the kernel.
        stride: step in pixels; padding is TensorFlow's `"same"`.
        standardisation: one of `STANDARDISATIONS`: `"variance"` or `"deviation"`.

    Call arguments:
        images: maps `[b, h, w, c]`.

    Returns:
        `[b, h / stride, w / stride, width]`, rounded up.

    Reference:
        Qiao et al., *Micro-Batch Training with Batch-Channel Normalization and Weight
        Standardization*, 2019, arXiv 1903.10520.
    """

    def __init__(self, width, kernel_size, stride=1, standardisation="variance", **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.kernel_size = kernel_size
        self.stride = stride
        self._standardise = standardisation_named(standardisation)

    def build(self, input_shape):
        # As in the JAX code. Only the direction of a filter counts.
        self.kernel = self.add_weight(
            name="kernel",
            shape=(self.kernel_size, self.kernel_size, input_shape[-1], self.width),
            initializer="lecun_normal",
            autocast=False,
        )

    def call(self, images):
        kernel = ops.convert_to_tensor(self.kernel)
        kernel = self._standardise(kernel - ops.mean(kernel, axis=(0, 1, 2)))
        kernel = ops.cast(kernel, images.dtype)
        return ops.conv(images, kernel, strides=self.stride, padding="same")

    def compute_output_shape(self, input_shape):
        batch, height, width, _ = input_shape
        return batch, -(-height // self.stride), -(-width // self.stride), self.width
