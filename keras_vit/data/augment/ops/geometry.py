"""Changes that move pixels, with a colour for what comes in from outside.

As Pillow's `Image.transform`: a pixel is taken from where its centre comes from, and what lies
outside of the image is `fill`, the last half pixel of the edge not yet. `interpolation` is
`"nearest"` (big_vision) or `"bilinear"` (timm; its bicubic is none of TensorFlow's).
"""

import math

import tensorflow as tf


def rotate(image, degrees, fill, interpolation="bilinear"):
    """Turns an image about its centre, counterclockwise."""
    angle = tf.cast(degrees, tf.float32) * (math.pi / 180)
    cos, sin = tf.cos(angle), tf.sin(angle)
    size = tf.cast(tf.shape(image)[:2], tf.float32)
    y, x = size[0] / 2, size[1] / 2
    matrix = (cos, -sin, x - cos * x + sin * y, sin, cos, y - sin * x - cos * y)
    return _moved(image, matrix, fill, interpolation)


def shear_x(image, slope, fill, interpolation="bilinear"):
    """Takes each row from `slope` pixels a row further right."""
    return _moved(image, (1.0, slope, 0.0, 0.0, 1.0, 0.0), fill, interpolation)


def shear_y(image, slope, fill, interpolation="bilinear"):
    """Takes each column from `slope` pixels a column further down."""
    return _moved(image, (1.0, 0.0, 0.0, slope, 1.0, 0.0), fill, interpolation)


def translate_x(image, share, fill, interpolation="bilinear"):
    """Takes everything from `share` of the width further right."""
    pixels = share * tf.cast(tf.shape(image)[1], tf.float32)
    return _moved(image, (1.0, 0.0, pixels, 0.0, 1.0, 0.0), fill, interpolation)


def translate_y(image, share, fill, interpolation="bilinear"):
    """Takes everything from `share` of the height further down."""
    pixels = share * tf.cast(tf.shape(image)[0], tf.float32)
    return _moved(image, (1.0, 0.0, 0.0, 0.0, 1.0, pixels), fill, interpolation)


def _moved(image, matrix, fill, interpolation):
    """The image whose pixel with the centre (x, y) comes from (a x + b y + c, d x + e y + f)."""
    a, b, c, d, e, f = (tf.cast(value, tf.float32) for value in matrix)
    # TensorFlow counts from the centre of the first pixel, Pillow from its corner.
    c, f = c + (a + b - 1) / 2, f + (d + e - 1) / 2
    shape = tf.shape(image)[:2]
    moved = tf.raw_ops.ImageProjectiveTransformV3(
        images=image[None],
        transforms=tf.stack([a, b, c, d, e, f, 0.0, 0.0])[None],
        output_shape=shape,
        fill_value=0.0,
        interpolation=interpolation.upper(),
        fill_mode="NEAREST",  # the edge goes on; the op's own fill is one level, not a colour
    )[0]
    height, width = tf.unstack(tf.cast(shape, tf.float32))
    y, x = tf.range(height)[:, None], tf.range(width)[None]
    from_x, from_y = a * x + b * y + c + 0.5, d * x + e * y + f + 0.5
    inside = (from_x >= 0) & (from_x < width) & (from_y >= 0) & (from_y < height)
    out = tf.where(inside[..., None], moved, colour(fill, image.shape[-1]))
    return tf.ensure_shape(out, image.shape)


def colour(fill, channels):
    """Returns a level, or a tuple of three, as uint8 `[channels]`."""
    levels = (fill,) * channels if isinstance(fill, int) else tuple(fill)
    if len(levels) != channels:
        levels = (round(sum(levels) / len(levels)),) * channels
    return tf.constant(levels, tf.uint8)
