"""The loss of a detector: which anchor answers for which box, what it is, and where."""

import keras
from keras import ops

from keras_vit.layers.anchors import anchor_boxes, deltas_of_boxes, overlaps
from keras_vit.step import RatioLoss

# An anchor answers for a box that it overlaps with by so much, and for none below so much; in
# between it is left alone.
POSITIVE, NEGATIVE = 0.5, 0.4


def matched(anchors, boxes, labels):
    """Tells which box each anchor answers for.

    Besides those that overlap with it enough, the best anchor of each box answers for it, however
    little they overlap: no box is without one.

    KerasHub's `BoxMatcher` is not used: with `force_match_for_each_col` it matches the first
    anchor of each image to boxes that only fill the batch up, and without it small boxes teach
    nothing.

    Args:
        anchors: `[n, 4]`, see `keras_vit.layers.anchors`.
        boxes: `[b, m, 4]`.
        labels: integers `[b, m]`, -1 where there is no box.

    Returns:
        (box, positive, negative), each `[b, n]`: the place of the box, and whether the anchor
        answers for it, or for none.
    """
    real = ops.expand_dims(labels >= 0, 1)
    found = ops.where(real, overlaps(ops.cast(anchors, boxes.dtype), boxes), -1.0)
    best = ops.max(found, axis=1, keepdims=True)
    chosen = ops.logical_and(found >= best, found > 0)
    is_chosen = ops.any(chosen, axis=-1)
    box = ops.where(is_chosen, ops.argmax(chosen, axis=-1), ops.argmax(found, axis=-1))
    most = ops.max(found, axis=-1)
    positive = ops.logical_or(most >= POSITIVE, is_chosen)
    return box, positive, ops.logical_and(most < NEGATIVE, ops.logical_not(positive))


def focal(logits, targets, alpha=0.25, gamma=2.0):
    """Returns the focal loss of each logit: cross-entropy that easy answers weigh little in.

    Args:
        logits: any shape.
        targets: 0 or 1, the same shape.
        alpha: weight of the ones; that of the zeros is `1 - alpha`.
        gamma: how little what is right already weighs.

    Reference:
        Lin et al., *Focal Loss for Dense Object Detection*, 2017, arXiv 1708.02002.
    """
    logits = ops.convert_to_tensor(logits)
    ones = ops.cast(targets > 0, logits.dtype)
    # softplus(-z) is -log of the probability of what is right.
    z = (2 * ones - 1) * logits
    weight = (1 - alpha) + (2 * alpha - 1) * ones
    return weight * ops.sigmoid(-z) ** gamma * ops.softplus(-z)


@keras.saving.register_keras_serializable(package="keras_vit")
class DetectionLoss(RatioLoss):
    """Focal loss of the classes and L1 loss of the boxes, over the number of matched anchors.

    It is of the kind *ratio*: both are summed over the global batch, and divided by the sum over
    its images of the matched anchors, where an image without any counts as one. That sum is the
    same however the batch is dealt out. (KerasHub's `compute_loss` divides by the matched anchors
    of each replica, which under several replicas weighs their images unevenly; and a batch
    without boxes teaches it nothing, where it should teach what is not there.)

    Args:
        image_size, levels, scales, aspects, size: of the detector's anchors, see
            `keras_vit.layers.anchors.anchor_boxes`; `DetectionLoss.of(model)` fills them in.
        box_weight: weight of the boxes' loss.

    Call arguments:
        y_true: a dict of `boxes`, `[b, m, 4]` in shares of the image, and `labels`, integers
            `[b, m]`, -1 where there is no box.
        y_pred: what a `Detector` gives: `deltas` `[b, n, 4]` and `logits` `[b, n, num_classes]`.

    Returns:
        A scalar.
    """

    def __init__(
        self,
        image_size,
        levels,
        scales=3,
        aspects=(0.5, 1.0, 2.0),
        size=4.0,
        box_weight=1.0,
        name="detection_loss",
    ):
        super().__init__(name=name)
        self.settings = {
            "image_size": tuple(image_size),
            "levels": tuple(levels),
            "scales": scales,
            "aspects": tuple(aspects),
            "size": size,
        }
        self.box_weight = box_weight
        self.anchors = anchor_boxes(**self.settings)

    @classmethod
    def of(cls, model, box_weight=1.0):
        """Returns the loss of a `Detector`'s own anchors."""
        return cls(**model.config.anchor_settings, box_weight=box_weight)

    def terms(self, y_true, y_pred, sample_weight=None):
        """Returns (sum of both losses, sum of the matched anchors, at least one an image)."""
        if sample_weight is not None:
            raise ValueError("DetectionLoss takes no `sample_weight`.")
        deltas, logits = y_pred["deltas"], y_pred["logits"]
        if deltas.shape[1] != len(self.anchors):
            raise ValueError(
                f"The loss has {len(self.anchors)} anchors, and the model {deltas.shape[1]}: take "
                "the model's own, `DetectionLoss.of(model)`."
            )
        labels = ops.cast(y_true["labels"], "int32")
        boxes = ops.cast(y_true["boxes"], deltas.dtype)
        place, positive, negative = matched(self.anchors, boxes, labels)
        label = ops.take_along_axis(labels, place, axis=1)
        classes = ops.one_hot(ops.where(positive, label, -1), logits.shape[-1], dtype=logits.dtype)
        counts = ops.cast(ops.logical_or(positive, negative), logits.dtype)
        positive = ops.cast(positive, logits.dtype)
        what = ops.sum(focal(logits, classes) * ops.expand_dims(counts, -1))
        own = ops.take_along_axis(boxes, ops.expand_dims(place, -1), axis=1)
        apart = ops.abs(deltas - deltas_of_boxes(own, self.anchors))
        where = ops.sum(apart * ops.expand_dims(positive, -1))
        number = ops.sum(ops.maximum(ops.sum(positive, axis=1), 1.0))
        return what + self.box_weight * where, number

    def get_config(self):
        return {**self.settings, "box_weight": self.box_weight, "name": self.name}
