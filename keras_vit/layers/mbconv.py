"""The inverted bottleneck of MobileNet and EfficientNet, as CoAtNet uses it."""

import keras
from keras import ops

from keras_vit.layers.activations import activation as activation_named
from keras_vit.layers.base import Layer
from keras_vit.layers.choices import check_choice
from keras_vit.layers.drop_path import DropPath
from keras_vit.layers.pooled_shortcut import PooledShortcut
from keras_vit.layers.remat import rematerialised
from keras_vit.one_pass import one_pass

# Which convolution strides where the block halves the map: (the 1 x 1 expansion, the depthwise).
STRIDES = {"depthwise": (1, 2), "expansion": (2, 1)}


def strides_named(name):
    """Returns the strides (expansion, depthwise) of a block that halves the map.

    Raises:
        ValueError: if there is no such way.
    """
    check_choice("stride_in", name, STRIDES)
    return STRIDES[name]


@keras.saving.register_keras_serializable(package="keras_vit")
class SqueezeExcite(Layer):
    """Scales each channel by what a small MLP says of all channels' means.

    Args:
        hidden_dim: width of the hidden layer, whose activation is SiLU.

    Call arguments:
        images: maps `[b, h, w, c]`.

    Returns:
        Maps of the same shape.

    Reference:
        Hu et al., *Squeeze-and-Excitation Networks*, 2017, arXiv 1709.01507.
    """

    def __init__(self, hidden_dim, **kwargs):
        super().__init__(**kwargs)
        self.hidden_dim = hidden_dim

    def build(self, input_shape):
        channels = input_shape[-1]
        self.fc1 = keras.layers.Dense(self.hidden_dim, name="fc1", dtype=self.dtype_policy)
        self.fc2 = keras.layers.Dense(channels, name="fc2", dtype=self.dtype_policy)
        self.fc1.build((None, channels))
        self.fc2.build((None, self.hidden_dim))

    def call(self, images):
        means = ops.mean(images, axis=(1, 2))
        scales = ops.sigmoid(self.fc2(ops.silu(self.fc1(means))))
        return images * ops.reshape(scales, (-1, 1, 1, images.shape[-1]))

    def compute_output_shape(self, input_shape):
        return input_shape


@keras.saving.register_keras_serializable(package="keras_vit")
class MBConv(Layer):
    """Batch norm, expansion, depthwise convolution, squeeze and excitation, projection.

    The branch is added to a shortcut. A block that halves the map strides in its expansion (the
    paper's main results) or in its depthwise convolution (the paper's table 9, timm, MaxViT).

    Args:
        width: number of output channels.
        halve: whether the block halves the sides of the map, which must then be even.
        pool: how the shortcut is halved, one of `keras_vit.layers.POOLS`.
        stride_in: one of `keras_vit.layers.STRIDES`.
        expansion: width of the depthwise convolution, in output widths.
        squeeze: width inside squeeze and excitation, in output widths.
        drop_path: probability of dropping the branch for an example, in [0, 1).
        activation: one of `keras_vit.layers.ACTIVATIONS`.
        norm_epsilon: epsilon of the batch norms.
        norm_momentum: momentum of their moving statistics.
        remat: whether to compute the block twice in training instead of keeping its values.

    Call arguments:
        images: maps `[b, h, w, c]`.
        training: whether the batch norms use the batch and drop path is on.

    Returns:
        `[b, h, w, width]`, or half of the sides.

    Reference:
        Dai et al., *CoAtNet: Marrying Convolution and Attention for All Data Sizes*, 2021, arXiv
        2106.04803; Sandler et al., *MobileNetV2*, 2018, arXiv 1801.04381.
    """

    def __init__(
        self,
        width,
        halve=False,
        pool="average",
        stride_in="depthwise",
        expansion=4,
        squeeze=0.25,
        drop_path=0.0,
        activation="gelu",
        norm_epsilon=1e-5,
        norm_momentum=0.9,
        remat=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.width = width
        self.halve = halve
        self.remat = remat
        self.hidden_dim = expansion * width
        self._activate = activation_named(activation)
        strides, dtype = strides_named(stride_in) if halve else (1, 1), self.dtype_policy
        norm = lambda name: keras.layers.BatchNormalization(  # noqa: E731
            momentum=norm_momentum, epsilon=norm_epsilon, name=name, dtype=dtype
        )
        self.pre_norm, self.norm1, self.norm2 = map(norm, ("pre_norm", "norm1", "norm2"))
        self.expand = keras.layers.Conv2D(
            self.hidden_dim, 1, strides[0], use_bias=False, name="expand", dtype=dtype
        )
        self.depthwise = keras.layers.DepthwiseConv2D(
            3, strides[1], "valid", use_bias=False, name="depthwise", dtype=dtype
        )
        self.squeeze = SqueezeExcite(int(squeeze * width), name="squeeze", dtype=dtype)
        self.project = keras.layers.Conv2D(width, 1, name="project", dtype=dtype)
        self.shortcut = PooledShortcut(width, halve, pool, name="shortcut", dtype=dtype)
        self.drop_path = DropPath(drop_path, name="drop_path", dtype=dtype)

    def build(self, input_shape):
        hidden = (*input_shape[:-1], self.hidden_dim)
        self.shortcut.build(input_shape)
        self.pre_norm.build(input_shape)
        self.expand.build(input_shape)
        for part in (self.norm1, self.depthwise, self.norm2, self.squeeze, self.project):
            part.build(hidden)

    def call(self, images, training=False):
        if self.remat and training:
            return rematerialised(self, lambda images: self._call(images, True), images)
        return self._call(images, training)

    def _call(self, images, training):
        activate = one_pass(self._activate) if training else self._activate
        x = self.expand(self.pre_norm(images, training=training))
        x = activate(self.norm1(x, training=training))
        # One pixel on each side also where it strides, as PyTorch pads.
        x = self.depthwise(ops.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))))
        x = activate(self.norm2(x, training=training))
        x = self.project(self.squeeze(x))
        return self.shortcut(images) + self.drop_path(x, training=training)

    def compute_output_shape(self, input_shape):
        return self.shortcut.compute_output_shape(input_shape)
