"""Random brightness, contrast, saturation and hue."""

import dataclasses
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.augment import ops
from keras_vit.data.order import uniform


@dataclasses.dataclass(frozen=True)
class ColorJitter:
    """Changes brightness, contrast, saturation and hue, in random order.

    As torchvision's and timm's `ColorJitter` on Pillow images. Keras's `RandomColorJitter` keeps
    the order, and its seed is a state.

    Args:
        brightness: the factor lies within 1 - this (at least 0) and 1 + this.
        contrast: the same for the contrast.
        saturation: the same for the saturation.
        hue: largest turn of the hue, as a share of the circle, 0 to 0.5.

    Call arguments:
        image: uint8 `[h, w, c]`, c 1 or 3.
        key: int64 `[2]`.

    Returns:
        A tensor like `image`.
    """

    stage: ClassVar[str] = "image"
    brightness: float = 0.3
    contrast: float = 0.3
    saturation: float = 0.3
    hue: float = 0.0

    def __call__(self, image, key):
        ranges = ((ops.brightness, self.brightness), (ops.contrast, self.contrast))
        ranges += ((ops.color, self.saturation),)
        changes = [(op, max(0.0, 1 - most), 1 + most) for op, most in ranges if most]
        if self.hue:
            changes.append((ops.hue, -self.hue, self.hue))
        if not changes:
            return image
        draws = uniform(key, 2 * len(changes))
        order, shares = tf.argsort(draws[: len(changes)]), draws[len(changes) :]
        for place in range(len(changes)):
            image = tf.switch_case(order[place], _branches(image, changes, shares))
        return image


def _branches(image, changes, shares):
    """One function a change that makes it, at its share of the way from its least to its most."""
    return [
        lambda op=op, low=low, high=high, i=i: op(image, low + (high - low) * shares[i])
        for i, (op, low, high) in enumerate(changes)
    ]
