"""Four neighbouring tokens of a map become one of twice the width."""

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.flat import flat
from keras_vit.layers.layer_norm import LayerNorm


def neighbours(images):
    """Puts each 2 x 2 square of a map on the channels: `[b, h, w, c]` to `[b, h/2, w/2, 4 c]`.

    In a square, the rows come before the columns: (0, 0), (1, 0), (0, 1), (1, 1). An odd side is
    padded with zeros.
    """
    _, height, width, channels = images.shape
    if height % 2 or width % 2:
        images = ops.pad(images, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)))
    rows, columns = -(-height // 2), -(-width // 2)
    x = ops.reshape(images, (-1, 2, columns, 2, channels))
    x = ops.transpose(x, (0, 2, 3, 1, 4))
    return ops.reshape(x, (-1, rows, columns, 4 * channels))


@keras.saving.register_keras_serializable(package="keras_vit")
class PatchMerging(Layer):
    """Halves a map's sides and doubles its width: neighbours side by side, norm, Dense.

    Args:
        norm_epsilon: epsilon of the norm.

    Call arguments:
        images: maps `[b, h, w, c]` of a static size; an odd side is padded with zeros.
        training: whether a gradient is going to be asked for.

    Returns:
        `[b, h / 2, w / 2, 2 c]`.

    Reference:
        Liu et al., *Swin Transformer: Hierarchical Vision Transformer using Shifted Windows*,
        2021, arXiv 2103.14030.

    Example:

    >>> PatchMerging()(keras.ops.ones((1, 6, 5, 8))).shape
    TensorShape([1, 3, 3, 16])
    """

    def __init__(self, norm_epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.norm = LayerNorm(norm_epsilon, name="norm", dtype=self.dtype_policy)

    def build(self, input_shape):
        width = input_shape[-1]
        self.reduction = keras.layers.Dense(
            2 * width, use_bias=False, name="reduction", dtype=self.dtype_policy
        )
        self.norm.build((None, 4 * width))
        self.reduction.build((None, 4 * width))

    def call(self, images, training=False):
        x = self.norm(neighbours(images), training=training)
        return ops.reshape(self.reduction(flat(x)), (-1, *x.shape[1:3], 2 * images.shape[-1]))

    def compute_output_shape(self, input_shape):
        batch, height, width, channels = input_shape
        return batch, -(-height // 2), -(-width // 2), 2 * channels
