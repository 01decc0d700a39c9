"""A square out of an image, nearly as large as it goes."""

import dataclasses

import tensorflow as tf

from keras_vit.data.augment.crops import Crop
from keras_vit.data.order import uniform


@dataclasses.dataclass(frozen=True)
class SquareCrop(Crop):
    """Cuts a square out of an image, of a share of its short side, anywhere in it.

    big_vision's `resize_small(448)|random_crop(384)`, in whole pixels of the image as it was
    decoded: of 32 pixels it takes 27. With two shares, such as (224 / 320, 224 / 256), it is the
    cut of SlowFast and TimeSformer: 224 pixels of an image whose short side was resized to
    anything from 256 to 320, all alike often.

    Args:
        share: side of the square as a share of the image's short side, or (least, most).

    Call arguments:
        image: `[h, w, c]`, any dtype, at the size it was decoded.
        seed: int64 `[2]`.

    Returns:
        `[s, s, c]`, a part of `image`.
    """

    share: float | tuple = 384 / 448

    def window(self, shape, seed):
        """Returns which part it is, int32 `[4]`: top, left, height, width."""
        size = tf.cast(shape[:2], tf.float32)
        share = self.share
        if isinstance(share, tuple):
            small, large = 1 / share[1], 1 / share[0]
            share = 1 / (small + uniform(seed, 3)[2] * (large - small))
        side = tf.maximum(tf.round(share * tf.reduce_min(size)), 1)
        corner = tf.floor(uniform(seed, 2) * (size - side + 1))
        return tf.cast(tf.stack([corner[0], corner[1], side, side]), tf.int32)
