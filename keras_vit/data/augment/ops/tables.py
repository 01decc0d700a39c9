"""Changes that give each level another level, the same one wherever it stands.

Each is a table of 256 levels, made in the integers, or doubles, that Pillow makes it in, so that
the pixels are Pillow's (`ImageOps`), all of them.
"""

import tensorflow as tf


def invert(image):
    """Returns the negative."""
    return 255 - image


def posterize(image, bits):
    """Keeps the upper bits of every level.

    Args:
        image: uint8 `[h, w, c]`.
        bits: integer, 0 (black) to 8 (no change).
    """
    step = tf.bitwise.left_shift(1, 8 - tf.cast(bits, tf.int32))
    return _looked_up(image, tf.range(256) // step * step)


def solarize(image, threshold):
    """Inverts the levels from `threshold` on; 256 changes nothing."""
    levels = tf.range(256)
    return _looked_up(image, tf.where(levels < tf.cast(threshold, tf.int32), levels, 255 - levels))


def solarize_add(image, addition):
    """Makes the levels below 128 lighter by `addition`, an integer."""
    levels = tf.range(256)
    lighter = tf.minimum(levels + tf.cast(addition, tf.int32), 255)
    return _looked_up(image, tf.where(levels < 128, lighter, levels))


def autocontrast(image):
    """Stretches each channel to the whole range."""
    low = tf.cast(tf.reduce_min(image, axis=(0, 1)), tf.float64)[:, None]
    high = tf.cast(tf.reduce_max(image, axis=(0, 1)), tf.float64)[:, None]
    scale = 255.0 / tf.maximum(high - low, 1.0)
    stretched = tf.cast(tf.range(256), tf.float64) * scale - low * scale
    table = tf.cast(tf.clip_by_value(stretched, 0.0, 255.0), tf.int32)
    return _looked_up(image, tf.where(high > low, table, tf.range(256)))


def equalize(image):
    """Gives each channel as many pixels of one level as of another, as far as it goes."""
    channels = image.shape[-1]
    values = tf.cast(image, tf.int32) + 256 * tf.range(channels)
    counts = tf.math.bincount(tf.reshape(values, [-1]), minlength=256 * channels)
    counts = tf.reshape(counts[: 256 * channels], [channels, 256])
    highest = tf.reduce_max(tf.where(counts > 0, tf.range(256), 0), axis=1)
    at_highest = tf.gather(counts, highest, batch_dims=1)
    step = ((tf.reduce_sum(counts, axis=1) - at_highest) // 255)[:, None]
    below = tf.cumsum(counts, axis=1, exclusive=True)
    table = tf.minimum((below + step // 2) // tf.maximum(step, 1), 255)
    return _looked_up(image, tf.where(step > 0, table, tf.range(256)))


def _looked_up(image, table):
    """The image through a table `[256]`, or one of each channel, `[c, 256]`."""
    table = tf.cast(table, tf.uint8)
    values = tf.cast(image, tf.int32)
    if table.shape.rank == 2:
        values += 256 * tf.range(image.shape[-1])
        table = tf.reshape(table, [-1])
    return tf.gather(table, values)
