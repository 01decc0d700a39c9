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
        partners = [tf.roll(tensor, 1, axis=0) for tensor in (images, labels)]
        return self.blend((images, labels), partners, drawn_by(keys, self.per))

    def partners(self, rows, batch_size):
        """The rows of a batch that these are blended with."""
        return (rows - 1) % batch_size

    def blend(self, main, other, keys):
        """Blends (images, labels) with others, by one key or by one for each."""
        if not self.alpha:
            return main
        share = beta(keys, self.alpha)
        share = tf.maximum(share, 1 - share)
        return (
            mixed(main[0], other[0], share[:, None, None, None]),
            mixed(main[1], other[1], share[:, None]),
        )
