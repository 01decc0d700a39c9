"""Random erasing."""

import dataclasses
import math
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.order import fold, uniform

_ATTEMPTS = 10


@dataclasses.dataclass(frozen=True)
class RandomErasing:
    """Fills a random rectangle of a normalised image with normal noise, a number a pixel.

    timm's mode `pixel`: one rectangle, smaller than the image each way; where none of ten draws is,
    nothing is erased. Keras's `RandomErasing` makes noise for every image of a batch, erased or
    not, and its seed is a state.

    Args:
        probability: share of the images that are erased.
        area: (least, most) share of the image's area.
        aspect: least height / width; the most is its reciprocal.

    Call arguments:
        images: float32 `[b, h, w, c]`, normalised.
        keys: int64 `[b, 2]`.

    Returns:
        A tensor like `images`.

    Reference:
        Zhong et al., *Random Erasing Data Augmentation*, 2017, arXiv 1708.04896.
    """

    stage: ClassVar[str] = "normalised"
    probability: float = 0.25
    area: tuple = (0.02, 1 / 3)
    aspect: float = 0.3

    def __call__(self, images, keys):
        top, left, height, width, fits = self.boxes(tf.shape(images)[1:3], keys)
        erased = (uniform(fold(keys, 0), 1)[:, 0] < self.probability) & fits
        index = tf.where(erased)[:, 0]

        def erase(number):
            """One image at a time: noise for the whole batch would be larger than the batch."""
            image, key = images[number], fold(keys[number], 1)
            rows = tf.range(tf.shape(image)[0])[:, None] - top[number]
            columns = tf.range(tf.shape(image)[1])[None] - left[number]
            inside = (rows >= 0) & (rows < height[number])
            inside &= (columns >= 0) & (columns < width[number])
            noise = tf.random.stateless_normal(tf.shape(image), key, dtype=image.dtype)
            return tf.where(inside[..., None], noise, image)

        changed = tf.map_fn(erase, index, fn_output_signature=images.dtype)
        # Without any, map_fn does not know the shape of one.
        changed = tf.reshape(changed, tf.concat([tf.shape(index), tf.shape(images)[1:]], axis=0))
        out = tf.tensor_scatter_nd_update(images, index[:, None], changed)
        return tf.ensure_shape(out, images.shape)

    def boxes(self, size, keys):
        """Returns (top, left, height, width, whether it fits), each `[b]`, for (height, width)."""
        high, wide = tf.unstack(tf.cast(size, tf.float32))
        draws = tf.reshape(uniform(keys, 2 * _ATTEMPTS + 2), [-1, 2 * _ATTEMPTS + 2])
        share, slant = draws[:, :_ATTEMPTS], draws[:, _ATTEMPTS : 2 * _ATTEMPTS]
        area = (self.area[0] + (self.area[1] - self.area[0]) * share) * high * wide
        aspect = tf.exp(math.log(self.aspect) * (1 - 2 * slant))
        heights, widths = tf.round(tf.sqrt(area * aspect)), tf.round(tf.sqrt(area / aspect))
        fits = (heights < high) & (widths < wide)
        first = tf.argmax(fits, axis=1)
        height = tf.gather(heights, first, batch_dims=1)
        width = tf.gather(widths, first, batch_dims=1)
        top = tf.floor(draws[:, -2] * (high - height + 1))
        left = tf.floor(draws[:, -1] * (wide - width + 1))
        whole = [tf.cast(value, tf.int32) for value in (top, left, height, width)]
        return *whole, tf.reduce_any(fits, axis=1)
