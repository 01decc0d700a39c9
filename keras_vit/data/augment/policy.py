"""One change out of a set, at a level, by chance: what the policies are made of."""

import dataclasses

import tensorflow as tf

from keras_vit.data.augment import ops
from keras_vit.data.order import uniform


@dataclasses.dataclass(frozen=True)
class Moves:
    """How a policy's changes move pixels.

    Args:
        fill: level, or three levels, of what comes in from outside.
        interpolation: `"nearest"` or `"bilinear"`.
    """

    fill: int | tuple
    interpolation: str


def change(image, which, level, key, levels, moves):
    """Makes one change.

    Only the change that is chosen is computed, which is why this takes one image and no batch.

    Args:
        image: uint8 `[h, w, c]`.
        which: int32 scalar, a place in `levels`; their number leaves the image as it is.
        level: float32 scalar.
        key: int64 `[2]`, for the sign and the place of a cutout.
        levels: a table of `keras_vit.data.augment.levels`.
        moves: `Moves`.

    Returns:
        A tensor like `image`.
    """
    sign, *place = tf.unstack(uniform(key, 3))
    sign = tf.where(sign < 0.5, 1.0, -1.0)
    # Bound as arguments: each function is called when all of them have been made.
    branches = [
        lambda name=name, told=told: _made(name, told, image, level, sign, place, moves)
        for name, told in levels.items()
    ]
    return tf.switch_case(tf.convert_to_tensor(which), [*branches, lambda: tf.identity(image)])


def _made(name, told, image, level, sign, place, moves):
    if told is None:
        return getattr(ops, name)(image)
    value = told(level, sign)
    if name == "cutout":
        size = tf.cast(tf.shape(image)[:2], tf.float32)
        centre = tf.cast(tf.floor(tf.stack(place) * size), tf.int32)
        half = tf.cast(tf.round(value * size[0]), tf.int32)
        return ops.cutout(image, half, centre, moves.fill)
    if name in _MOVING:
        return getattr(ops, name)(image, value, moves.fill, moves.interpolation)
    return getattr(ops, name)(image, value)


_MOVING = ("rotate", "shear_x", "shear_y", "translate_x", "translate_y")
