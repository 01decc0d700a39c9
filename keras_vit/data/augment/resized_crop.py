"""A random part of an image, as torchvision and timm draw it."""

import dataclasses
import math

import tensorflow as tf

from keras_vit.data.augment.crops import Crop
from keras_vit.data.order import uniform

_ATTEMPTS = 10


@dataclasses.dataclass(frozen=True)
class ResizedCrop(Crop):
    """Cuts a random part out of an image; the pipeline then resizes the part to the model's size.

    The cut of torchvision's `RandomResizedCrop`: the area uniform, the logarithm of the aspect
    uniform; where none of ten draws fits, the largest part in the middle of an aspect within the
    range. (big_vision's `InceptionCrop` draws a height instead, which favours small areas.)

    Args:
        area: (least, most) share of the image's area.
        aspect: (least, most) width / height of the part.

    Call arguments:
        image: `[h, w, c]`, any dtype, at the size it was decoded.
        seed: int64 `[2]`.

    Returns:
        `[h', w', c]`, a part of `image`.
    """

    area: tuple = (0.08, 1.0)
    aspect: tuple = (3 / 4, 4 / 3)

    def window(self, shape, seed):
        """Returns which part it is, int32 `[4]`: top, left, height, width."""
        high, wide = tf.unstack(tf.cast(shape[:2], tf.float32))
        draws = uniform(seed, 2 * _ATTEMPTS + 2)
        area = self.area[0] + (self.area[1] - self.area[0]) * draws[:_ATTEMPTS]
        low, most = (math.log(value) for value in self.aspect)
        aspect = tf.exp(low + (most - low) * draws[_ATTEMPTS : 2 * _ATTEMPTS])
        heights = tf.round(tf.sqrt(area * high * wide / aspect))
        widths = tf.round(tf.sqrt(area * high * wide * aspect))
        fits = (heights <= high) & (widths <= wide) & (heights > 0) & (widths > 0)
        first, found = tf.argmax(fits), tf.reduce_any(fits)
        low, most = self.aspect
        height = tf.where(found, heights[first], tf.minimum(high, tf.round(wide / low)))
        width = tf.where(found, widths[first], tf.minimum(wide, tf.round(high * most)))
        # The middle, where none was found.
        down, right = tf.unstack(tf.where(found, draws[-2:], 0.5))
        top = tf.floor(down * (high - height + tf.cast(found, tf.float32)))
        left = tf.floor(right * (wide - width + tf.cast(found, tf.float32)))
        return tf.cast(tf.stack([top, left, height, width]), tf.int32)
