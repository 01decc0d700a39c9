"""A square painted over."""

import tensorflow as tf

from keras_vit.data.augment.ops.geometry import colour


def cutout(image, half, centre, fill):
    """Paints a square, cut off at the border.

    Args:
        image: uint8 `[h, w, c]`.
        half: half its side, in pixels.
        centre: (row, column), the first pixel right of and below its middle.
        fill: a level, or a tuple of three.

    Reference:
        DeVries, Taylor, *Improved Regularization of Convolutional Neural Networks with Cutout*,
        2017, arXiv 1708.04552.
    """
    height, width = tf.unstack(tf.shape(image)[:2])
    rows, columns = tf.range(height)[:, None] - centre[0], tf.range(width)[None] - centre[1]
    inside = (rows >= -half) & (rows < half) & (columns >= -half) & (columns < half)
    return tf.where(inside[..., None], colour(fill, image.shape[-1]), image)
