"""MixUp or CutMix, as timm switches between them."""

import dataclasses
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.augment.beta import beta
from keras_vit.data.augment.mixing import check, drawn_by, mixed
from keras_vit.data.order import fold, uniform


@dataclasses.dataclass(frozen=True)
class MixOrCut:
    """Blends each image with another (MixUp), or pastes a rectangle of the other (CutMix).

    The other image is the one as far from the end of the batch as this one is from its start. Its
    share of the label is what it has of the image: a rectangle over the border counts for what lies
    inside. Keras's `CutMix` never lets the rectangle reach over the border, so that its middle
    is favoured, and its seed is a state.

    Args:
        mixup: alpha of MixUp's Beta(alpha, alpha), up to 1; 0 for CutMix alone.
        cutmix: alpha of CutMix's, up to 1; 0 for MixUp alone.
        switch: how often it is CutMix, where both are on.
        per: `"batch"` for one draw for all images, or `"example"`.

    Call arguments:
        images: float32 `[b, h, w, c]`.
        labels: float32 `[b, k]`.
        keys: int64 `[b, 2]`.

    Returns:
        (images, labels), mixed.

    Reference:
        Zhang et al., *mixup*, 2017, arXiv 1710.09412; Yun et al., *CutMix*, 2019, arXiv 1905.04899.
    """

    stage: ClassVar[str] = "labelled"
    mixup: float = 0.8
    cutmix: float = 1.0
    switch: float = 0.5
    per: str = "batch"

    def __post_init__(self):
        check(self.per, mixup=self.mixup, cutmix=self.cutmix)
        if not self.mixup and not self.cutmix:
            raise ValueError("`mixup` or `cutmix` must be above 0. Received: 0 and 0.")

    def __call__(self, images, labels, keys):
        # `images[::-1]` gives the same, and takes thirty times as long.
        partners = [tf.reverse(tensor, [0]) for tensor in (images, labels)]
        return self.blend((images, labels), partners, drawn_by(keys, self.per))

    def partners(self, rows, batch_size):
        """The rows of a batch that these are blended with."""
        return batch_size - 1 - rows

    def blend(self, main, other, keys):
        """Blends (images, labels) with others, by one key or by one for each."""
        size = main[0].shape[1:3]
        weights = []  # of the image at each of its pixels
        if self.mixup:
            blend = beta(fold(keys, 0), self.mixup)[:, None, None]
            weights.append(tf.broadcast_to(blend, [tf.shape(keys)[0], *size]))
        if self.cutmix:
            centre = uniform(fold(keys, 2), 2)
            boxes = cut_boxes(beta(fold(keys, 1), self.cutmix), centre, size)
            weights.append(1 - inside(boxes, size))
        cuts = uniform(fold(keys, 3), 1)[:, :, None] < self.switch
        weight = tf.where(cuts, weights[-1], weights[0])
        share = tf.reduce_mean(weight, axis=(1, 2))
        return (
            mixed(main[0], other[0], weight[..., None]),
            mixed(main[1], other[1], share[:, None]),
        )


def cut_boxes(share, centre, size):
    """Returns the rectangles that CutMix pastes.

    Args:
        share: float32 `[b]`: how much of the image should stay.
        centre: float32 `[b, 2]` in [0, 1): where the rectangle's middle lies.
        size: (height, width) of the images.

    Returns:
        int32 `[b, 4]`: top, bottom, left, right; bottom and right are the first outside.
    """
    size = tf.constant(tuple(size), tf.int32)
    ratio = tf.sqrt(1 - share)[:, None]
    cut = tf.cast(ratio * tf.cast(size, tf.float32), tf.int32)
    middle = tf.cast(centre * tf.cast(size, tf.float32), tf.int32)
    first = tf.maximum(middle - cut // 2, 0)
    last = tf.minimum(middle + (cut + 1) // 2, size)
    return tf.stack([first[:, 0], last[:, 0], first[:, 1], last[:, 1]], axis=1)


def inside(boxes, size):
    """Returns float32 `[b, h, w]`, 1 in the boxes `[b, 4]` and 0 elsewhere."""
    top, bottom, left, right = tf.unstack(boxes[:, :, None], axis=1)
    rows, columns = tf.range(size[0])[None], tf.range(size[1])[None]
    rows = (rows >= top) & (rows < bottom)
    columns = (columns >= left) & (columns < right)
    return tf.cast(rows[:, :, None] & columns[:, None, :], tf.float32)
