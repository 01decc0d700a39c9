"""RandAugment, as big_vision and as timm calibrate it.

Keras has a layer of this name. It makes one choice for a whole batch and computes every change of
its own set of ten each time; its 0 to 1 factor maps to neither scale, and its seed is a state, so
that a run could not be resumed in mid-epoch.
"""

import dataclasses
import math
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.augment.levels import BIG_VISION, TIMM
from keras_vit.data.augment.policy import Moves, change
from keras_vit.data.order import fold, uniform

# ImageNet's mean colour: timm fills with the mean that the images are normalised by.
MEAN_COLOUR = (124, 116, 104)


@dataclasses.dataclass(frozen=True)
class RandAugment:
    """big_vision's `randaug(num_ops, magnitude)`: changes drawn from 16, each made at one level.

    Geometric changes take the nearest pixel, and grey comes in from outside.

    Args:
        num_ops: how many changes an image gets.
        magnitude: their level: 10 to 20 in AugReg's settings, 0 in its lightest.

    Call arguments:
        image: uint8 `[h, w, c]`, c 1 or 3.
        key: int64 `[2]`.

    Returns:
        A tensor like `image`.

    Reference:
        Cubuk et al., *RandAugment*, 2019, arXiv 1909.13719; Steiner et al., *How to train your
        ViT?*, 2021, arXiv 2106.10270.
    """

    stage: ClassVar[str] = "image"
    num_ops: int = 2
    magnitude: float = 10.0

    def __call__(self, image, key):
        level = tf.constant(self.magnitude, tf.float32)
        for layer in range(self.num_ops):
            own = fold(key, layer)
            (chosen,) = tf.unstack(uniform(own, 1))
            which = tf.cast(chosen * len(BIG_VISION), tf.int32)
            image = change(image, which, level, fold(own, 0), BIG_VISION, Moves(128, "nearest"))
        return image


@dataclasses.dataclass(frozen=True)
class TimmRandAugment:
    """timm's `rand-m9-mstd0.5-inc1`: two changes drawn from 15, each made half of the times.

    Geometric changes interpolate (bilinear; timm's bicubic is none of TensorFlow's), and the mean
    colour comes in from outside.

    Args:
        magnitude: mean of the levels.
        deviation: standard deviation of the levels, which stay within 0 and 10.
        num_ops: how many changes are drawn for an image.
        probability: how often a change that was drawn is made.
        fill: level, or three levels, of what comes in from outside.

    Call arguments:
        image: uint8 `[h, w, c]`, c 1 or 3.
        key: int64 `[2]`.

    Returns:
        A tensor like `image`.

    Reference:
        Touvron et al., *Training data-efficient image transformers*, 2020, arXiv 2012.12877,
        table 9.
    """

    stage: ClassVar[str] = "image"
    magnitude: float = 9.0
    deviation: float = 0.5
    num_ops: int = 2
    probability: float = 0.5
    fill: int | tuple = MEAN_COLOUR

    def __call__(self, image, key):
        for layer in range(self.num_ops):
            own = fold(key, layer)
            chosen, made, radius, angle = tf.unstack(uniform(own, 4))
            which = tf.cast(chosen * len(TIMM), tf.int32)
            which = tf.where(made < self.probability, which, len(TIMM))
            # Box and Muller's normal number.
            normal = tf.sqrt(-2 * tf.math.log(1 - radius)) * tf.cos(2 * math.pi * angle)
            level = tf.clip_by_value(self.magnitude + self.deviation * normal, 0.0, 10.0)
            image = change(image, which, level, fold(own, 0), TIMM, Moves(self.fill, "bilinear"))
        return image
