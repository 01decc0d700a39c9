"""The residual unit of the ResNet in hybrid models."""

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.group_norm import GroupNorm
from keras_vit.layers.remat import rematerialised
from keras_vit.layers.standardised_conv import StandardisedConv


@keras.saving.register_keras_serializable(package="keras_vit")
class Bottleneck(Layer):
    """1 x 1, 3 x 3 and 1 x 1 convolution, each with its group norm, beside a shortcut.

    ReLU follows the first two norms and the sum. Kernels are standardised. The shortcut has a
    convolution and a norm of its own where the unit strides or changes the width.

    Args:
        width: channels of the 3 x 3 convolution; the unit gives four times as many.
        stride: step of the 3 x 3 convolution and of the shortcut.
        norm_epsilon: epsilon of the group norms.
        standardisation: one of `keras_vit.layers.STANDARDISATIONS`.
        remat: whether to compute the unit twice in training instead of keeping its values.

    Call arguments:
        images: maps `[b, h, w, c]`.
        training: whether a gradient is going to be asked for.

    Returns:
        `[b, h / stride, w / stride, 4 * width]`, rounded up.

    Reference:
        He et al., *Deep Residual Learning for Image Recognition*, 2015, arXiv 1512.03385.
    """

    def __init__(
        self,
        width,
        stride=1,
        norm_epsilon=1e-5,
        standardisation="variance",
        remat=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.width = width
        self.stride = stride
        self.remat = remat
        self._conv_options = {"standardisation": standardisation, "dtype": self.dtype_policy}
        self._norm_options = {"epsilon": norm_epsilon, "dtype": self.dtype_policy}

    def build(self, input_shape):
        width, stride, shape = self.width, self.stride, tuple(input_shape)
        self.conv1, self.norm1, shape = self._pair(shape, "conv1", "norm1", width, 1, 1)
        self.conv2, self.norm2, shape = self._pair(shape, "conv2", "norm2", width, 3, stride)
        self.conv3, self.norm3, shape = self._pair(shape, "conv3", "norm3", 4 * width, 1, 1)
        self.shortcut_conv = None
        if shape != tuple(input_shape):
            names = "shortcut_conv", "shortcut_norm"
            self.shortcut_conv, self.shortcut_norm, _ = self._pair(
                input_shape, *names, 4 * width, 1, stride
            )

    def _pair(self, shape, conv_name, norm_name, width, kernel_size, stride):
        """A convolution, the norm after it, and the shape that comes out."""
        conv = StandardisedConv(width, kernel_size, stride, name=conv_name, **self._conv_options)
        norm = GroupNorm(name=norm_name, **self._norm_options)
        conv.build(shape)
        shape = conv.compute_output_shape(shape)
        norm.build(shape)
        return conv, norm, shape

    def call(self, images, training=False):
        if self.remat and training:
            return rematerialised(self, self._call, images)
        return self._call(images)

    def _call(self, images):
        x = ops.relu(self.norm1(self.conv1(images)))
        x = ops.relu(self.norm2(self.conv2(x)))
        x = self.norm3(self.conv3(x))
        if self.shortcut_conv is not None:
            images = self.shortcut_norm(self.shortcut_conv(images))
        return ops.relu(images + x)

    def compute_output_shape(self, input_shape):
        batch, height, width, _ = input_shape
        return batch, -(-height // self.stride), -(-width // self.stride), 4 * self.width
