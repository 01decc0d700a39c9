"""Which images are taken for calibration, and which are refused."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import open_data, write_digits
from keras_vit.export.calibration import (
    balanced,
    calibration_images,
    random_images,
    spread,
    with_full_range,
)
from keras_vit.layers import Preprocessing

SMALL = Preprocessing(image_size=(2, 3), mean=(0.5,), std=(0.5,))
IMAGES = np.arange(20, dtype="uint8").repeat(6).reshape(20, 2, 3, 1) * 10


def test_an_array_is_taken_at_even_distances():
    taken = calibration_images(IMAGES, SMALL, limit=4)
    assert taken.dtype == np.float32
    assert taken[:, 0, 0, 0].tolist() == [0, 50, 100, 150]
    assert len(calibration_images(IMAGES, SMALL)) == 20
    assert spread(0, 4).tolist() == []


@pytest.mark.parametrize("kind", ["images", "batches", "labelled"])
def test_a_dataset_gives_its_first_images(kind):
    dataset = tf.data.Dataset.from_tensor_slices(IMAGES)
    if kind != "images":
        dataset = dataset.batch(3)
    if kind == "labelled":
        dataset = dataset.map(lambda images: (images, tf.zeros(3)))
    taken = calibration_images(dataset, SMALL, limit=7)
    assert taken[:, 1, 2, 0].tolist() == [0, 10, 20, 30, 40, 50, 60]


def test_records_of_every_class_are_decoded(tmp_path):
    write_digits(tmp_path / "digits", per_class=3)
    records = open_data(tmp_path / "digits")
    preprocessing = dataclasses.replace(SMALL, image_size=(8, 8))
    taken = calibration_images(records, preprocessing, limit=10)
    assert taken.shape == (10, 8, 8, 1)
    everything = calibration_images(records, preprocessing)
    for index, image in enumerate(taken):  # one of each class: the records are sorted by class
        same = (everything[3 * index : 3 * index + 3] == image).all(axis=(1, 2, 3))
        assert same.any(), index
    np.testing.assert_array_equal(
        calibration_images(tmp_path / "digits", preprocessing, limit=10), taken
    )


def test_each_class_gives_as_many_as_the_others():
    labels = np.array([0] * 50 + [1] * 3 + [2] * 40)
    chosen = balanced(labels, 30, seed=1)
    assert np.bincount(labels[chosen]).tolist() == [14, 3, 13] or (
        np.bincount(labels[chosen]).tolist() == [13, 3, 14]
    )
    assert len(set(chosen.tolist())) == 30 and (np.diff(chosen) > 0).all()
    np.testing.assert_array_equal(chosen, balanced(labels, 30, seed=1))
    assert (chosen != balanced(labels, 30, seed=2)).any()
    assert len(balanced(labels, 200)) == 93


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (IMAGES / 127.5 - 1, "raw pixels from 0 to 255.*Received: values from -1 to 0.49"),
        (IMAGES / 255.0, "not normalised ones"),
        (IMAGES * 2.0, "values from 0 to 380"),
        (IMAGES[:, :1], r"shape \(2, 3, 1\).*Received: shape=\(20, 1, 3, 1\)"),
        (IMAGES[:0], "at least one"),
        (np.full((1, 2, 3, 1), np.nan), "raw pixels"),
        (7, "Received: int"),
    ],
)
def test_wrong_images_are_refused(images, message):
    with pytest.raises(ValueError, match=message):
        calibration_images(images, SMALL)


def test_the_full_range_is_seen_and_the_callers_images_are_left():
    images = np.full((2, 2, 3, 1), 100, "float32")
    widened = with_full_range(images)
    assert (widened.min(), widened.max()) == (0, 255)
    assert (widened != 100).sum() == 2
    assert (images == 100).all()


def test_random_images_are_raw_and_always_the_same():
    images = random_images(SMALL)
    assert images.shape[1:] == (2, 3, 1)
    assert images.min() >= 0 and images.max() <= 255 and images.max() > 200
    np.testing.assert_array_equal(images, random_images(SMALL))
