"""Targets other than one-hot."""

import dataclasses
from typing import ClassVar

import tensorflow as tf


def smoothed(targets, share):
    """Takes a share from every target and spreads it over all classes.

    Args:
        targets: float32 `[b, k]`.
        share: in [0, 1).

    Returns:
        `(1 - share) * targets + share / k`.
    """
    return targets * (1 - share) + share / targets.shape[-1]


@dataclasses.dataclass(frozen=True)
class AnyLabel:
    """Makes every class that an image has something of a target of 1, after mixing.

    DeiT-III does so for its binary cross-entropy; without label smoothing, which would make all
    classes targets.

    Call arguments:
        images: `[b, h, w, c]`.
        labels: float32 `[b, k]`.
        keys: int64 `[b, 2]`.

    Returns:
        (images, labels of 0 and 1).
    """

    stage: ClassVar[str] = "labelled"

    def __call__(self, images, labels, keys):
        return images, tf.cast(labels > 0, labels.dtype)

    def partners(self, rows, batch_size):
        """Each row is looked at alone."""
        return rows

    def blend(self, main, other, keys):
        """Of some rows what the call makes of all."""
        return self(*main, keys)
