"""MixUp, as big_vision does it."""

import dataclasses
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.augment.beta import beta
from keras_vit.data.augment.mixing import check, drawn_by, mixed


@dataclasses.dataclass(frozen=True)
class MixUp:
    """Blends each image, and its label, with those before it in the batch.

    The share is a Beta(alpha, alpha) number, or one less that number, whichever is larger: each
    image stays the main one. timm's MixUp is in `MixOrCut`. Keras's layer draws its partners by a
    seed that is a state, its share for every image, and never the larger one.

    Args:
        alpha: 0 (nothing is mixed) to 1.
        per: `"batch"` for one share for all images, or `"example"`.

    Call arguments:
        images: float32 `[b, h, w, c]`.
        labels: float32 `[b, k]`.
        keys: int64 `[b, 2]`.

    Returns:
        (images, labels), mixed.

    Reference:
        Zhang et al., *mixup: Beyond Empirical Risk Minimization*, 2017, arXiv 1710.09412.
    """

    stage: ClassVar[str] = "labelled"
    alpha: float = 0.2
    per: str = "batch"

    def __post_init__(self):
        check(self.per, alpha=self.alpha)

    def __call__(self, images, labels, keys):
        if not self.alpha:
            return images, labels
        share = beta(drawn_by(keys, self.per), self.alpha)
        share = tf.maximum(share, 1 - share)
        return (
            mixed(images, tf.roll(images, 1, axis=0), share[:, None, None, None]),
            mixed(labels, tf.roll(labels, 1, axis=0), share[:, None]),
        )
