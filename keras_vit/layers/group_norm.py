"""Group normalisation of maps."""

import keras
from keras import ops

from keras_vit.layers.base import Layer


@keras.saving.register_keras_serializable(package="keras_vit")
class GroupNorm(Layer):
    """Normalises each group of neighbouring channels of a map, over all of its pixels.

    Means and variances are computed in float32 under a half-precision policy. Nothing but the
    means of groups has more than four axes, which is all that TFLite broadcasts.

    Args:
        groups: number of groups; divides the channels.
        epsilon: added to the variance: 1e-5 in timm, 1e-6 in the JAX code.

    Call arguments:
        images: maps `[b, h, w, c]`.

    Returns:
        Maps of the same shape.

    Raises:
        ValueError: if the groups do not divide the channels.

    Reference:
        Wu, He, *Group Normalization*, 2018, arXiv 1803.08494.
    """

    def __init__(self, groups=32, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.groups = groups
        self.epsilon = epsilon

    def build(self, input_shape):
        channels = input_shape[-1]
        if channels % self.groups:
            raise ValueError(
                "`groups` must divide the channels. "
                f"Received: groups={self.groups}, channels={channels}."
            )
        shape = (channels,)
        self.gamma = self.add_weight(name="gamma", shape=shape, initializer="ones", autocast=False)
        self.beta = self.add_weight(name="beta", shape=shape, initializer="zeros", autocast=False)

    def call(self, images):
        x = ops.cast(images, keras.backend.result_type(images.dtype, "float32"))
        centred = x - self._of_groups(x)
        scale = ops.rsqrt(self._of_groups(centred * centred) + self.epsilon) * self.gamma
        return ops.cast(centred * scale + self.beta, images.dtype)

    def _of_groups(self, x):
        """The mean of each group, `[b, 1, 1, c]`."""
        channels = x.shape[-1]
        size = channels // self.groups
        means = ops.reshape(ops.mean(x, axis=(1, 2)), (-1, self.groups, size))
        # By ones, not by a broadcast, of which TFLite's kernels for CPUs have none.
        spread = ops.mean(means, axis=-1, keepdims=True) * ops.ones((1, 1, size), x.dtype)
        return ops.reshape(spread, (-1, 1, 1, channels))

    def compute_output_shape(self, input_shape):
        return input_shape
