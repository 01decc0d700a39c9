"""From a level, 0 to 10 and beyond, to what a change is told: three scales of it.

Each table has, for every change of its op set, a function from a level and a sign, 1 or -1, both
float32, or None for a change that is told nothing. What is rounded is multiplied before it is
divided: 0.9 times 110 is 98.99 in float32.
"""

import tensorflow as tf


def _signed(most):
    return lambda level, sign: sign * level * most / 10


def _steps(most):
    """Whole steps, `most` at level 10, rounded down."""
    return lambda level: tf.floor(level * most / 10)


def _factor(level, sign):
    return 0.1 + level * 1.8 / 10


def _factor_either_way(level, sign):
    return tf.maximum(0.1, 1.0 + sign * level * 0.9 / 10)


# timm's `rand-m9-mstd0.5-inc1`, its order: each change grows with the level.
TIMM = {
    "autocontrast": None,
    "equalize": None,
    "invert": None,
    "rotate": _signed(30.0),
    "posterize": lambda level, sign: 4.0 - _steps(4.0)(level),
    "solarize": lambda level, sign: 256.0 - tf.minimum(_steps(256.0)(level), 256.0),
    "solarize_add": lambda level, sign: tf.minimum(_steps(110.0)(level), 128.0),
    "color": _factor_either_way,
    "contrast": _factor_either_way,
    "brightness": _factor_either_way,
    "sharpness": _factor_either_way,
    "shear_x": _signed(0.3),
    "shear_y": _signed(0.3),
    "translate_x": _signed(0.45),
    "translate_y": _signed(0.45),
}
# big_vision's `randaug(n, m)`, its order. Posterize weakens with the level; its bits are at least
# 1, since TensorFlow shifts uint8 by 7 at most. Solarize compares uint8 with its threshold, in
# which 256 is 0: level 10 inverts the picture, and 15 is as 5. (Seen in TensorFlow 2.21.) It moves
# by 10 pixels a level and cuts out 8 a level, whatever the size; here these are shares of 224.
BIG_VISION = {
    "autocontrast": None,
    "equalize": None,
    "invert": None,
    "rotate": _signed(30.0),
    "posterize": lambda level, sign: tf.clip_by_value(_steps(4.0)(level), 1.0, 8.0),
    "solarize": lambda level, sign: tf.math.floormod(_steps(256.0)(level), 256.0),
    "color": _factor,
    "contrast": _factor,
    "brightness": _factor,
    "sharpness": _factor,
    "shear_x": _signed(0.3),
    "shear_y": _signed(0.3),
    "translate_x": _signed(100 / 224),
    "translate_y": _signed(100 / 224),
    "cutout": lambda level, sign: _steps(40.0)(level) / 224,
    "solarize_add": lambda level, sign: _steps(110.0)(level),
}
# The ImageNet policy of the AutoAugment paper: posterize keeps 4 to 8 bits.
AUTO_AUGMENT = {
    "autocontrast": None,
    "equalize": None,
    "invert": None,
    "rotate": _signed(30.0),
    "posterize": lambda level, sign: 4.0 + _steps(4.0)(level),
    "solarize": lambda level, sign: tf.minimum(_steps(256.0)(level), 256.0),
    "color": _factor,
    "contrast": _factor,
    "sharpness": _factor,
    "shear_x": _signed(0.3),
}
