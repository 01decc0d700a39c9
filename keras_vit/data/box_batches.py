"""Batches of images with boxes around things, which move with the images."""

import dataclasses

import tensorflow as tf

from keras_vit.data.augment import ColorJitter, ThreeAugment, augmentations
from keras_vit.data.boxes import NO_BOX, Boxes
from keras_vit.data.decode import decode, fit, fitting
from keras_vit.data.order import example, fold
from keras_vit.data.pipeline import kept_rows, normalised, ordered

STAGES = ("decoded", "image", "fitted")
# Parts that change colours alone. All others must have `move_boxes(boxes, size, key)`: from boxes
# of one image, in shares of it, its (height, width) and the key to boxes in shares of what the
# part gives.
STILL = (ColorJitter, ThreeAugment)
# A box is left out when less of it is still in the image.
VISIBLE = 0.3
# Nothing here needs AutoGraph, which takes longer than the tracing itself.
_as_it_is = tf.autograph.experimental.do_not_convert
AUGMENT = ("inception_crop((0.4, 1.0))", "flip")


def box_batches(records, preprocessing, batch_size, seed, start_step=0, augment=AUGMENT, rows=None):
    """Endless batches of images and their boxes, each a pure function of its step.

    Args:
        records: `Records` with `Boxes`, such as `open_data` gives of a COCO file.
        preprocessing: `Preprocessing` of the model.
        batch_size: images a batch.
        seed: integer: fixes order and augmentation.
        start_step: number of the first batch.
        augment: names of `AUGMENTATIONS`, or parts like those, that move boxes or change colours
            alone: crops, `"flip"`, `"shift"`, `"color_jitter"`, `"three_augment"`. With a crop
            the model's own `resize` and `crop` give way to a plain resize.
        rows: places in the batch that are kept, as in `training_batches`; all are made.

    Returns:
        A `tf.data.Dataset` of (images, targets): normalised float32 `[b, h, w, c]`, and a dict of
        `boxes`, `[b, most, 4]` in shares of the image, and `labels`, int64 `[b, most]`, -1 where
        there is none. A box of which less than 30 % is still in the image is left out.

    Raises:
        ValueError: for records without boxes, or a part that cannot move them.
    """
    _check(records, batch_size)
    parts = _checked(augmentations(augment))
    cropped = any(part.stage == "decoded" for _, part in parts)
    fitted = dataclasses.replace(preprocessing, resize="squash") if cropped else preprocessing

    @_as_it_is
    def draw(number):
        index, key = example(number, seed, len(records))
        image, boxes, labels = _loaded(records, index, preprocessing.channels)
        left = tf.ones_like(labels, tf.float32)
        for stage in STAGES:
            if stage == "image":
                size = tf.shape(image)[:2]
                image = tf.cast(fit(image, fitted), tf.uint8)
                boxes, left = cut_boxes(fit_boxes(boxes, size, fitted), left)
            for place, part in parts:
                if part.stage == stage:
                    size, own = tf.shape(image)[:2], fold(key, place)
                    image = part(image, own)
                    if not isinstance(part, STILL):
                        boxes, left = cut_boxes(part.move_boxes(boxes, size, own), left)
        boxes, labels = visible(boxes, labels, left)
        return image, {"boxes": boxes, "labels": labels}

    images = tf.data.Dataset.counter(start_step * batch_size).map(draw, tf.data.AUTOTUNE)
    batches = images.batch(batch_size, drop_remainder=True)
    return ordered(normalised(kept_rows(batches, rows), preprocessing))


def evaluation_boxes(records, preprocessing, batch_size, rows=None):
    """All images once, in their order, with their boxes.

    Args:
        records, preprocessing: as in `box_batches`.
        batch_size: images a batch; the last may have fewer.
        rows: places in each batch that are kept.

    Returns:
        A `tf.data.Dataset` of (pixels, targets): float32 `[b, h, w, c]`, whole values 0 to 255,
        and a dict as that of `box_batches`.

    Raises:
        ValueError: for records without boxes.
    """
    _check(records, batch_size)

    @_as_it_is
    def load(index):
        image, boxes, labels = _loaded(records, index, preprocessing.channels)
        size = tf.shape(image)[:2]
        boxes, left = cut_boxes(fit_boxes(boxes, size, preprocessing))
        boxes, labels = visible(boxes, labels, left)
        return fit(image, preprocessing), {"boxes": boxes, "labels": labels}

    images = tf.data.Dataset.range(len(records)).map(load, tf.data.AUTOTUNE)
    return ordered(kept_rows(images.batch(batch_size), rows))


def fit_boxes(boxes, size, preprocessing):
    """Returns where boxes lie in the image that `fit` makes, in shares of it.

    Args:
        boxes: float32 `[..., 4]`, in shares of the image.
        size: (height, width) of the image.
        preprocessing: as `fit` takes it.
    """
    resized, offset, own = _placed(size, preprocessing)
    return (boxes * resized - offset) / own


def unfit_boxes(boxes, size, preprocessing):
    """The reverse of `fit_boxes`: boxes in shares of the image as it was before `fit`."""
    resized, offset, own = _placed(size, preprocessing)
    return (boxes * own + offset) / resized


def _placed(size, preprocessing):
    resized, offset = fitting(tf.convert_to_tensor(size), preprocessing)
    sides = (resized, offset, tf.constant(preprocessing.image_size))
    return [tf.tile(tf.cast(side[::-1], tf.float32), [2]) for side in sides]


def cut_boxes(boxes, left=1.0):
    """Cuts boxes to the image.

    After each change of the image: what a crop took away does not come back by a shift.

    Args:
        boxes: float32 `[m, 4]`, in shares of the image.
        left: what was left of each before, 0 to 1.

    Returns:
        The boxes, and what is left of each of its whole area.

    Example:

    >>> boxes, left = cut_boxes(tf.constant([[-0.5, 0.0, 0.5, 1.0], [2.0, 0.0, 3.0, 1.0]]))
    >>> left.numpy().tolist()
    [0.5, 0.0]
    """
    cut = tf.clip_by_value(boxes, 0.0, 1.0)
    whole, remaining = (tf.reduce_prod(b[..., 2:] - b[..., :2], axis=-1) for b in (boxes, cut))
    return cut, left * tf.math.divide_no_nan(remaining, whole)


def visible(boxes, labels, left):
    """Leaves out the boxes of which too little is left.

    Args:
        boxes, left: of `cut_boxes`.
        labels: int64 `[m]`.

    Returns:
        Boxes and labels of the same shapes; zeros and -1 where there is none any more.
    """
    # Whole boxes are left whole, up to the rounding of float32.
    real = (labels != NO_BOX) & (left >= VISIBLE - 1e-4)
    return tf.where(real[..., None], boxes, 0.0), tf.where(real, labels, NO_BOX)


def _loaded(records, index, channels):
    (targets,) = records.targets.for_training(index)
    return decode(records.encoded(index), channels), targets["boxes"], targets["labels"]


def _checked(parts):
    wrong = [
        type(part).__name__
        for part in parts
        if part.stage not in STAGES
        or not isinstance(part, STILL)
        and not hasattr(part, "move_boxes")
    ]
    if wrong:
        raise ValueError(
            "`augment` of images with boxes must be of parts that move boxes or change colours "
            f"alone. Received: {', '.join(wrong)}."
        )
    return list(enumerate(parts))


def _check(records, batch_size):
    if not isinstance(records.targets, Boxes):
        raise ValueError(
            f"`records` must have boxes. Received: {type(records.targets).__name__}; give a COCO "
            "file, or a manifest with `boxes`."
        )
    if not len(records):
        raise ValueError("There are no images.")
    if batch_size < 1:
        raise ValueError(f"`batch_size` must be at least 1. Received: {batch_size}.")
