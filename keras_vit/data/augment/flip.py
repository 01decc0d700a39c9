"""Mirroring."""

import dataclasses
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.order import uniform


@dataclasses.dataclass(frozen=True)
class Flip:
    """Mirrors an image left to right.

    Args:
        probability: share of the images that are mirrored, 0 to 1.

    Call arguments:
        image: `[h, w, c]` or `[b, h, w, c]`, any dtype.
        seed: int64 `[2]` or `[b, 2]`.

    Returns:
        A tensor like `image`.
    """

    stage: ClassVar[str] = "fitted"
    probability: float = 0.5

    def __call__(self, image, seed):
        mirrored = uniform(seed, 1)[..., 0] < self.probability
        if image.shape.rank == 3:
            return tf.cond(mirrored, lambda: _mirror(image), lambda: image)
        # `tf.where` compares and copies by the pixel: four times as long as by the image.
        return tf.raw_ops.Select(condition=mirrored, x=_mirror(image), y=image)

    def move_boxes(self, boxes, size, seed):
        """Returns where boxes of one image lie after the call: see `keras_vit.data.box_batches`."""
        left, top, right, bottom = tf.unstack(boxes, axis=-1)
        mirrored = tf.stack([1 - right, top, 1 - left, bottom], axis=-1)
        return tf.where(uniform(seed, 1)[0] < self.probability, mirrored, boxes)


def _mirror(image):
    """The image, or each of a batch, left to right, in TensorFlow's quick form.

    Its `reverse` is quick for the middle of three axes: a batch is taken for one high image.
    """
    rows = tf.reshape(image, tf.concat([[-1], tf.shape(image)[-2:]], axis=0))
    return tf.ensure_shape(tf.reshape(tf.reverse(rows, [1]), tf.shape(image)), image.shape)
