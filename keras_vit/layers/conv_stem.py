"""The two convolutions that a CoAtNet begins with."""

import keras
from keras import ops

from keras_vit.layers.activations import activation as activation_named
from keras_vit.layers.base import Layer
from keras_vit.one_pass import one_pass


@keras.saving.register_keras_serializable(package="keras_vit")
class ConvStem(Layer):
    """3 x 3 convolution with stride 2, batch norm, activation, 3 x 3 convolution; no biases.

    Args:
        width: channels of both convolutions.
        activation: one of `keras_vit.layers.ACTIVATIONS`.
        norm_epsilon: epsilon of the batch norm.
        norm_momentum: momentum of its moving statistics.

    Call arguments:
        images: `[b, h, w, c]`.
        training: whether the batch norm uses the batch.

    Returns:
        `[b, h / 2, w / 2, width]`, rounded up.

    Reference:
        Dai et al., *CoAtNet: Marrying Convolution and Attention for All Data Sizes*, 2021, arXiv
        2106.04803.
    """

    def __init__(self, width, activation="gelu", norm_epsilon=1e-5, norm_momentum=0.9, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self._activate = activation_named(activation)
        dtype = self.dtype_policy
        self.conv1 = keras.layers.Conv2D(
            width, 3, 2, "valid", use_bias=False, name="conv1", dtype=dtype
        )
        self.norm = keras.layers.BatchNormalization(
            momentum=norm_momentum, epsilon=norm_epsilon, name="norm", dtype=dtype
        )
        self.conv2 = keras.layers.Conv2D(
            width, 3, 1, "same", use_bias=False, name="conv2", dtype=dtype
        )

    def build(self, input_shape):
        self.conv1.build(input_shape)
        output_shape = self.compute_output_shape(input_shape)
        self.norm.build(output_shape)
        self.conv2.build(output_shape)

    def call(self, images, training=False):
        activate = one_pass(self._activate) if training else self._activate
        # One pixel on each side, as PyTorch pads.
        x = self.conv1(ops.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0))))
        return self.conv2(activate(self.norm(x, training=training)))

    def compute_output_shape(self, input_shape):
        batch, height, width, _ = input_shape
        return batch, -(-height // 2), -(-width // 2), self.width
