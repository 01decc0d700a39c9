"""DeiT-III's 3-Augment."""

import dataclasses
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.augment import ops
from keras_vit.data.order import uniform


@dataclasses.dataclass(frozen=True)
class ThreeAugment:
    """Makes an image grey, solarized or blurred, a third of the times each.

    The paper's colour jitter of 0.3 is a part of its own, after this one.

    Args:
        radius: (least, most) standard deviation of the blur in pixels, at most 2.

    Call arguments:
        image: uint8 `[h, w, c]`, c 1 or 3.
        key: int64 `[2]`.

    Returns:
        A tensor like `image`.

    Reference:
        Touvron, Cord, Jégou, *DeiT III: Revenge of the ViT*, 2022, arXiv 2204.07118, section 3.
    """

    stage: ClassVar[str] = "image"
    radius: tuple = (0.1, 2.0)

    def __call__(self, image, key):
        chosen, share = tf.unstack(uniform(key, 2))
        low, high = self.radius
        branches = [
            lambda: tf.repeat(ops.grey(image), image.shape[-1], axis=-1),
            lambda: ops.solarize(image, 128),
            lambda: ops.gaussian_blur(image, low + (high - low) * share),
        ]
        return tf.switch_case(tf.cast(chosen * len(branches), tf.int32), branches)
