"""A square out of an image, nearly as large as it goes."""

import dataclasses

import tensorflow as tf

from keras_vit.data.augment.crops import Crop
from keras_vit.data.order import uniform


@dataclasses.dataclass(frozen=True)
class SquareCrop(Crop):
    """Cuts a square of a fixed share of the short side out of an image, anywhere in it.

    big_vision's `resize_small(448)|random_crop(384)`, in whole pixels of the image as it was
    decoded: of 32 pixels it takes 27.

    Args:
        share: side of the square as a share of the image's short side.

    Call arguments:
        image: `[h, w, c]`, any dtype, at the size it was decoded.
        seed: int64 `[2]`.

    Returns:
        `[s, s, c]`, a part of `image`.
    """

    share: float = 384 / 448

    def window(self, shape, seed):
        """Returns which part it is, int32 `[4]`: top, left, height, width."""
        size = tf.cast(shape[:2], tf.float32)
        side = tf.maximum(tf.round(self.share * tf.reduce_min(size)), 1)
        corner = tf.floor(uniform(seed, 2) * (size - side + 1))
        return tf.cast(tf.stack([corner[0], corner[1], side, side]), tf.int32)
