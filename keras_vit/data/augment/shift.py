"""Moving by whole pixels."""

import dataclasses
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.order import uniform


@dataclasses.dataclass(frozen=True)
class Shift:
    """Moves an image by whole pixels, up to a share of its size in each direction.

    Args:
        share: largest move as a share of height and width, 0 to 1, rounded down to pixels: 1/8
            is 1 pixel of 8, 3 of 28, 4 of 32.
        fill: what comes in from outside: `"zero"` (black) or `"edge"` (the nearest pixel).

    Call arguments:
        image: `[h, w, c]` or `[b, h, w, c]`, uint8 or float32.
        seed: int64 `[2]` or `[b, 2]`.

    Returns:
        A tensor like `image`.
    """

    stage: ClassVar[str] = "fitted"
    share: float = 1 / 8
    fill: str = "zero"

    def __post_init__(self):
        if self.fill not in _FILLS:
            raise ValueError(f"`fill` must be one of {tuple(_FILLS)}. Received: {self.fill!r}.")

    def __call__(self, image, seed):
        if image.shape.rank == 3:
            return self(image[None], seed[None])[0]
        size = tf.shape(image)[1:3]
        down, right = self._moves(size, seed)
        one, zero = tf.ones_like(down), tf.zeros_like(down)
        # An output pixel (x, y) is the input's (x - right, y - down). One op for the batch.
        transforms = tf.stack([one, zero, -right, zero, one, -down, zero, zero], axis=-1)
        moved = tf.raw_ops.ImageProjectiveTransformV3(
            images=image,
            transforms=transforms,
            output_shape=size,
            fill_value=0.0,
            interpolation="NEAREST",
            fill_mode=_FILLS[self.fill],
        )
        return tf.ensure_shape(moved, image.shape)

    def move_boxes(self, boxes, size, seed):
        """Returns where boxes of one image lie after the call: see `keras_vit.data.box_batches`."""
        down, right = self._moves(size, seed)
        return boxes + tf.stack([right, down] * 2) / tf.tile(tf.cast(size[::-1], tf.float32), [2])

    def _moves(self, size, seed):
        """Pixels down and to the right, each of the seed's shape without its last axis."""
        limit = tf.floor(tf.cast(size, tf.float32) * self.share)
        return tf.unstack(tf.floor(uniform(seed, 2) * (2 * limit + 1)) - limit, axis=-1)


_FILLS = {"zero": "CONSTANT", "edge": "NEAREST"}
