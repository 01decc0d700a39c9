"""What the parts that cut a piece out of a decoded image share."""

from typing import ClassVar

import tensorflow as tf


def cut(image, box):
    """Returns the part of an image `[h, w, c]` that a box (top, left, height, width) names."""
    part = tf.slice(image, [box[0], box[1], 0], [box[2], box[3], -1])
    return tf.ensure_shape(part, [None, None, image.shape[-1]])


class Crop:
    """A part that keeps the piece that its `window(shape, seed)` names, int32 `[4]`.

    The window alone tells how much of a file has to be decoded.
    """

    stage: ClassVar[str] = "decoded"

    def __call__(self, image, seed):
        return cut(image, self.window(tf.shape(image), seed))

    def move_boxes(self, boxes, size, seed):
        """Returns where boxes lie in the piece: see `keras_vit.data.box_batches`."""
        window = tf.cast(self.window(size, seed), tf.float32)
        corner, kept = tf.tile(window[1::-1], [2]), tf.tile(window[:1:-1], [2])
        return (boxes * tf.tile(tf.cast(size[::-1], tf.float32), [2]) - corner) / kept
