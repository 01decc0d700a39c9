"""Cuts images into patches."""

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.sizes import pair, patch_grid


@keras.saving.register_keras_serializable(package="keras_vit")
class Patches(Layer):
    """Cuts images into patches and flattens each, `[b, h, w, c]` to `[b, n, p * p * c]`.

    Patches come row by row; inside a patch the order is (row, column, channel), which is that
    of a convolution kernel `(p, p, c, width)` reshaped to a matrix.

    `keras.ops.image.extract_patches` gives the same numbers through a convolution with an
    identity kernel, as much arithmetic as a projection of its own; here nothing is computed.

    Args:
        patch_size: side of a patch in pixels, or (height, width).

    Call arguments:
        images: `[b, h, w, c]`, any number of channels; the patch divides both sides.

    Returns:
        `[b, n, p * p * c]` with `n = (h / p) * (w / p)`, in the dtype of the layer.

    Raises:
        ValueError: if the patch does not divide the image.

    Example:

    >>> patches = Patches(16)
    >>> patches.grid(224)
    (14, 14)
    >>> patches(keras.ops.ones((1, 32, 48, 3))).shape
    TensorShape([1, 6, 768])
    """

    def __init__(self, patch_size, **kwargs):
        super().__init__(**kwargs)
        self.patch_size = pair("patch_size", patch_size)

    def grid(self, image_size):
        """Returns (rows, columns) of the patches of an image of `image_size` pixels."""
        return patch_grid(image_size, self.patch_size)

    def call(self, images):
        _, height, width, channels = self._checked(images.shape)
        (p, q), sides = self.patch_size, ops.shape(images)
        rows = height // p if height else sides[1] // p
        columns = width // q if width else sides[2] // q
        x = ops.reshape(images, (-1, rows, p, columns, q, channels))
        x = ops.transpose(x, (0, 1, 3, 2, 4, 5))
        return ops.reshape(x, (-1, rows * columns, p * q * channels))

    def compute_output_shape(self, input_shape):
        batch, height, width, channels = self._checked(input_shape)
        p, q = self.patch_size
        count = (height // p) * (width // q) if height and width else None
        return batch, count, p * q * channels

    def _checked(self, shape):
        shape = tuple(shape)
        if len(shape) != 4:
            raise ValueError(f"`images` must have the shape [b, h, w, c]. Received: shape={shape}.")
        if shape[1] and shape[2]:
            self.grid(shape[1:3])
        return shape
