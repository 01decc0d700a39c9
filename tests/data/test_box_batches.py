import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import Boxes
from keras_vit.data.arrays import from_arrays
from keras_vit.data.augment import Flip, ResizedCrop, Shift
from keras_vit.data.box_batches import (
    box_batches,
    cut_boxes,
    evaluation_boxes,
    fit_boxes,
    unfit_boxes,
    visible,
)
from keras_vit.layers import Preprocessing

HIGH, WIDE = 97, 127
PLAIN = Preprocessing(image_size=(64, 96), mean=(0.0,) * 3, std=(1.0,) * 3)
CROP = dataclasses.replace(PLAIN, resize="crop", crop=0.8)
COLOURS = np.array([[255, 0, 0], [0, 255, 0]])


def planted(count=8, seed=0):
    """Black pictures with a red and a green rectangle each, apart from one another."""
    random = np.random.default_rng(seed)
    pictures = np.zeros((count, HIGH, WIDE, 3), "uint8")
    boxes = []
    for picture in pictures:
        rows = []
        for label, colour in enumerate(COLOURS):
            top = random.integers(8, 50)
            left = random.integers(4, 22) + label * 62
            bottom, right = top + random.integers(20, 40), left + random.integers(20, 40)
            picture[top:bottom, left:right] = colour
            rows.append([left / WIDE, top / HIGH, right / WIDE, bottom / HIGH])
        boxes.append(rows)
    records = from_arrays(pictures)
    targets = Boxes.of(("red", "green"), boxes, [[0, 1]] * count)
    return dataclasses.replace(records, targets=targets)


def seen(image, label):
    """The rectangle of a colour as it is in an image, in shares, or None."""
    lit = image[..., label] > 0.5
    rows, columns = np.flatnonzero(lit.any(axis=1)), np.flatnonzero(lit.any(axis=0))
    if not len(rows):
        return None
    high, wide = lit.shape
    return np.array(
        [columns[0] / wide, rows[0] / high, (columns[-1] + 1) / wide, (rows[-1] + 1) / high]
    )


def check(image, boxes, labels):
    """Every box is where its rectangle is, to a pixel; returns how many there are."""
    for box, label in zip(boxes, labels, strict=True):
        if label >= 0:
            np.testing.assert_allclose(box, seen(image, label), atol=1.2 / 64)
        else:
            assert not box.any()
    return (labels >= 0).sum()


@pytest.mark.parametrize("preprocessing", [PLAIN, CROP], ids=["squash", "crop"])
@pytest.mark.parametrize(
    "augment",
    [
        (Flip(1.0),),
        (Shift(1 / 6),),
        ("inception_crop((0.4, 1.0))", "flip"),
        pytest.param((), marks=pytest.mark.prove),
        pytest.param((ResizedCrop((0.3, 0.9)),), marks=pytest.mark.prove),
        pytest.param(("square_crop", "flip", "shift"), marks=pytest.mark.prove),
    ],
    ids=str,
)
def test_boxes_are_where_the_rectangles_are(preprocessing, augment):
    batches = box_batches(planted(), preprocessing, 8, seed=3, augment=augment)
    found = 0
    for images, targets in batches.take(3):
        for image, boxes, labels in zip(
            images.numpy(), targets["boxes"].numpy(), targets["labels"].numpy(), strict=True
        ):
            found += check(image, boxes, labels)
    assert found > 12  # of 48


def test_evaluation_keeps_order_and_moves_boxes():
    for preprocessing in (PLAIN, CROP):
        batches = list(evaluation_boxes(planted(), preprocessing, 3).as_numpy_iterator())
        assert [len(images) for images, _ in batches] == [3, 3, 2]
        for images, targets in batches:
            for image, boxes, labels in zip(
                images / 255, targets["boxes"], targets["labels"], strict=True
            ):
                check(image, boxes, labels)


def test_colours_leave_boxes_alone():
    (one,) = box_batches(planted(), PLAIN, 8, 3, augment=("color_jitter",)).take(1)
    (other,) = box_batches(planted(), PLAIN, 8, 3, augment=()).take(1)
    np.testing.assert_array_equal(one[1]["boxes"], other[1]["boxes"])
    assert np.abs(one[0] - other[0]).max() > 0.1


def test_a_batch_is_a_function_of_its_step():
    def at(step, **options):
        (found,) = box_batches(planted(), PLAIN, 3, 5, start_step=step, **options).take(1)
        return found

    stream = list(box_batches(planted(), PLAIN, 3, 5).take(3))
    for number, (images, targets) in enumerate(stream):
        again = at(number)
        np.testing.assert_array_equal(again[0], images)
        np.testing.assert_array_equal(again[1]["boxes"], targets["boxes"])
    part = at(1, rows=range(1, 3))
    np.testing.assert_array_equal(part[0], stream[1][0][1:])
    np.testing.assert_array_equal(part[1]["labels"], stream[1][1]["labels"][1:])


def test_an_image_without_boxes():
    records = planted(2)
    records = dataclasses.replace(records, targets=Boxes.of(("red",), [[], []], [[], []]))
    (one,) = box_batches(records, PLAIN, 2, 0).take(1)
    assert one[1]["boxes"].shape == (2, 1, 4) and (one[1]["labels"].numpy() == -1).all()


def test_a_box_that_is_mostly_outside_is_left_out():
    boxes = tf.constant([[-0.7, 0, 0.3, 1], [-0.75, 0, 0.25, 1], [2, 0, 3, 1], [0, 0, 0, 0]])
    boxes, left = cut_boxes(boxes)
    cut, labels = visible(boxes, tf.constant([5, 6, 7, -1], tf.int64), left)
    assert labels.numpy().tolist() == [5, -1, -1, -1]
    np.testing.assert_allclose(cut[0], [0, 0, 0.3, 1])
    assert not cut[1:].numpy().any()


@pytest.mark.parametrize("preprocessing", [PLAIN, CROP], ids=["squash", "crop"])
def test_unfit_is_the_reverse_of_fit(preprocessing):
    box = np.array([[0.2, 0.3, 0.6, 0.9]], "float32")
    there = fit_boxes(box, (HIGH, WIDE), preprocessing)
    np.testing.assert_allclose(unfit_boxes(there, (HIGH, WIDE), preprocessing), box, atol=1e-6)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="must have boxes. Received: Unlabelled"):
        box_batches(from_arrays(np.zeros((1, 8, 8, 3), "uint8")), PLAIN, 1, 0)
    for name, part in {"mixup": "MixUp", "rand_augment": "RandAugment"}.items():
        with pytest.raises(ValueError, match=f"move boxes or change colours alone.*{part}"):
            box_batches(planted(1), PLAIN, 1, 0, augment=(name,))
    with pytest.raises(ValueError, match="`batch_size` must be at least 1"):
        evaluation_boxes(planted(1), PLAIN, 0)
