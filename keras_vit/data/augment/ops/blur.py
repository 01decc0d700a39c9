"""Gaussian blur."""

import tensorflow as tf

_REACH = 2


def gaussian_blur(image, radius):
    """Blurs an image; beyond its edge the edge goes on.

    As Pillow does it: three box blurs each way, with soft ends, stand in for the Gaussian, and each
    is rounded.

    Args:
        image: uint8 `[h, w, c]`.
        radius: standard deviation in pixels, above 0 and at most 2.

    Reference:
        Gwosdek et al., *Theoretical Foundations of Gaussian Convolution by Extended Box Filtering*,
        2011.
    """
    weights = _box(tf.cast(radius, tf.float32) ** 2 / 3)
    out = tf.cast(image, tf.float32)
    for axis in (1, 1, 1, 0, 0, 0):
        last = tf.shape(image)[axis] - 1
        places = tf.clip_by_value(tf.range(-_REACH, last + _REACH + 1), 0, last)
        shape = [-1, 1, 1, 1] if axis == 0 else [1, -1, 1, 1]
        kernel = tf.tile(tf.reshape(weights, shape), [1, 1, image.shape[-1], 1])
        wide = tf.gather(out, places, axis=axis)[None]
        out = tf.floor(tf.nn.depthwise_conv2d(wide, kernel, [1, 1, 1, 1], "VALID")[0] + 0.5)
    return tf.ensure_shape(tf.cast(out, tf.uint8), image.shape)


def _box(variance):
    """Five weights of a variance: ones about the middle, an end of less than one, zeros."""
    whole = tf.floor((tf.sqrt(12 * variance + 1) - 1) / 2)
    end = (2 * whole + 1) * (whole * (whole + 1) - 3 * variance)
    end /= 6 * (variance - (whole + 1) ** 2)
    steps = tf.abs(tf.range(-_REACH, _REACH + 1, dtype=tf.float32))
    weights = tf.where(steps <= whole, 1.0, tf.where(steps <= whole + 1, end, 0.0))
    return weights / tf.reduce_sum(weights)
