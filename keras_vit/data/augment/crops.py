"""What the parts that cut a piece out of a decoded image share."""

import tensorflow as tf


def cut(image, box):
    """Returns the part of an image `[h, w, c]` that a box (top, left, height, width) names."""
    part = tf.slice(image, [box[0], box[1], 0], [box[2], box[3], -1])
    return tf.ensure_shape(part, [None, None, image.shape[-1]])
