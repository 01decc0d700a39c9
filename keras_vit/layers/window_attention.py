"""Self-attention inside the windows of a map."""

import keras
import numpy as np
from keras import ops

from keras_vit.layers.relative_attention import RelativeAttention
from keras_vit.layers.sizes import pair
from keras_vit.layers.windows import fitted_window, merge, padding, partition, shift_mask


@keras.saving.register_keras_serializable(package="keras_vit")
class WindowAttention(RelativeAttention):
    """Each token attends to its window of a map; the windows may be shifted by half their size.

    Along an axis that one window covers, the window is as long as the map and is not shifted. A
    map that is not made of whole windows is padded with zeros at its lower and right end, as in
    the authors' code for detection: tokens see the padding beside them.

    Args:
        num_heads: number of heads; divides the width.
        size: (height, width) of the map.
        window: (rows, columns) of a window.
        shift: whether the windows are shifted.
        dropout: rate on the attention probabilities, in [0, 1).

    Call arguments:
        images: maps `[b, height, width, c]`.
        training: whether dropout is on.

    Returns:
        Maps of the same shape.

    Raises:
        ValueError: if `num_heads` does not divide the width, or for maps of another size.

    Reference:
        Liu et al., *Swin Transformer: Hierarchical Vision Transformer using Shifted Windows*,
        2021, arXiv 2103.14030.

    Example:

    >>> layer = WindowAttention(num_heads=2, size=(5, 6), window=(2, 3), shift=True)
    >>> layer(keras.ops.ones((1, 5, 6, 8))).shape
    TensorShape([1, 5, 6, 8])
    """

    def __init__(self, num_heads, size, window, shift=False, dropout=0.0, **kwargs):
        size = pair("size", size)
        window, offset = fitted_window(size, pair("window", window), shift)
        super().__init__(num_heads, window, dropout, **kwargs)
        self.size = size
        self.offset = offset
        self.pad = padding(size, window)
        self.padded = tuple(np.add(size, self.pad).tolist())

    def bias(self):
        """Returns what is added to the scores: `[num_heads, n, n]`, or that for each window."""
        bias = super().bias()
        if not any(self.offset):
            return bias
        mask = ops.cast(shift_mask(self.padded, self.grid, self.offset), bias.dtype)
        # Windows and heads on one axis keep the scores at rank 4, all that TFLite broadcasts.
        return ops.reshape(mask[:, None] + bias, (-1, *bias.shape[1:]))

    def _rows(self, images):
        x = images
        if any(self.pad):
            x = ops.pad(x, ((0, 0), (0, self.pad[0]), (0, self.pad[1]), (0, 0)))
        if any(self.offset):
            x = ops.roll(x, [-step for step in self.offset], axis=[1, 2])
        return partition(x, self.grid)

    def _placed(self, matrix, shape):
        rows, columns = self.grid
        windows = ops.reshape(matrix, (-1, rows * columns, matrix.shape[-1]))
        x = merge(windows, self.grid, self.padded)
        if any(self.offset):
            x = ops.roll(x, list(self.offset), axis=[1, 2])
        return x[:, : self.size[0], : self.size[1]] if any(self.pad) else x

    def _check(self, shape):
        if tuple(shape[1:-1]) != self.size:
            raise ValueError(
                f"`images` must have the shape [b, {self.size[0]}, {self.size[1]}, c]. "
                f"Received: shape={tuple(shape)}."
            )
