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
        mirrored = uniform(seed, 1)[..., None, None] < self.probability
        return tf.where(mirrored, tf.reverse(image, [-2]), image)
