"""AutoAugment's policy for ImageNet."""

import dataclasses
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.augment.levels import AUTO_AUGMENT
from keras_vit.data.augment.policy import Moves, change
from keras_vit.data.order import fold, uniform

# 25 pairs of (change, probability, level).
POLICY = (
    (("posterize", 0.4, 8), ("rotate", 0.6, 9)),
    (("solarize", 0.6, 5), ("autocontrast", 0.6, 5)),
    (("equalize", 0.8, 8), ("equalize", 0.6, 3)),
    (("posterize", 0.6, 7), ("posterize", 0.6, 6)),
    (("equalize", 0.4, 7), ("solarize", 0.2, 4)),
    (("equalize", 0.4, 4), ("rotate", 0.8, 8)),
    (("solarize", 0.6, 3), ("equalize", 0.6, 7)),
    (("posterize", 0.8, 5), ("equalize", 1.0, 2)),
    (("rotate", 0.2, 3), ("solarize", 0.6, 8)),
    (("equalize", 0.6, 8), ("posterize", 0.4, 6)),
    (("rotate", 0.8, 8), ("color", 0.4, 0)),
    (("rotate", 0.4, 9), ("equalize", 0.6, 2)),
    (("equalize", 0.0, 7), ("equalize", 0.8, 8)),
    (("invert", 0.6, 4), ("equalize", 1.0, 8)),
    (("color", 0.6, 4), ("contrast", 1.0, 8)),
    (("rotate", 0.8, 8), ("color", 1.0, 2)),
    (("color", 0.8, 8), ("solarize", 0.8, 7)),
    (("sharpness", 0.4, 7), ("invert", 0.6, 8)),
    (("shear_x", 0.6, 5), ("equalize", 1.0, 9)),
    (("color", 0.4, 0), ("equalize", 0.6, 3)),
    (("equalize", 0.4, 7), ("solarize", 0.2, 4)),
    (("solarize", 0.6, 5), ("autocontrast", 0.6, 5)),
    (("invert", 0.6, 4), ("equalize", 1.0, 8)),
    (("color", 0.6, 4), ("contrast", 1.0, 8)),
    (("equalize", 0.8, 8), ("equalize", 0.6, 3)),
)


@dataclasses.dataclass(frozen=True)
class AutoAugment:
    """The policy for ImageNet: one of 25 pairs of changes, each made with its own probability.

    Keras has no layer for it.

    Args:
        fill: level, or three levels, of what comes in from outside.

    Call arguments:
        image: uint8 `[h, w, c]`, c 1 or 3.
        key: int64 `[2]`.

    Returns:
        A tensor like `image`.

    Reference:
        Cubuk et al., *AutoAugment: Learning Augmentation Policies from Data*, 2018, arXiv
        1805.09501, table 9; the levels are those of timm's `original`.
    """

    stage: ClassVar[str] = "image"
    fill: int | tuple = 128

    def __call__(self, image, key):
        names = list(AUTO_AUGMENT)
        pair, *made = tf.unstack(uniform(key, 3))
        pair = tf.cast(pair * len(POLICY), tf.int32)
        for place in range(2):
            column = [row[place] for row in POLICY]
            which = tf.gather([names.index(name) for name, _, _ in column], pair)
            probability = tf.gather([float(p) for _, p, _ in column], pair)
            level = tf.gather([float(level) for _, _, level in column], pair)
            which = tf.where(made[place] < probability, which, len(names))
            own, moves = fold(key, place), Moves(self.fill, "bilinear")
            image = change(image, which, level, own, AUTO_AUGMENT, moves)
        return image
