"""What the pipeline does with parts of every stage."""

import dataclasses
import itertools
from typing import ClassVar

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import open_data, training_batches
from keras_vit.data.augment import STAGES
from keras_vit.layers import Preprocessing
from tests.data.pictures import write_folder

VALUE = Preprocessing(image_size=8, mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.4))


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    return open_data(write_folder(folder, {"cat": 6, "dog": 5}, size=(12, 10)))


def batches(records, count, **options):
    dataset = training_batches(records, VALUE, 4, 3, **options)
    return [tuple(x.numpy() for x in batch) for batch in itertools.islice(dataset, count)]


@dataclasses.dataclass(frozen=True)
class Told:
    """Writes down what it is called with."""

    notes: ClassVar[list] = []
    stage: str

    def __call__(self, image, *rest):
        self.notes.append((self.stage, image.dtype.name, image.shape.rank))
        return image if self.stage != "labelled" else (image, rest[0])


@pytest.mark.parametrize("cache", [0, 2**20], ids=["files", "memory"])
def test_stages_are_called_in_their_order_with_what_they_take(records, cache):
    Told.notes.clear()
    backwards = tuple(Told(stage) for stage in reversed(STAGES))
    batches(records, 1, augment=backwards, cache_bytes=cache)
    assert list(dict.fromkeys(Told.notes)) == [
        ("decoded", "uint8", 3),
        ("image", "uint8", 3),
        ("fitted", "uint8", 4),
        ("normalised", "float32", 4),
        ("labelled", "float32", 4),
    ]


EVERYTHING = ("inception_crop", "color_jitter", "flip", "random_erasing", "mix_or_cut")


@pytest.mark.prove  # tracing all parts takes its time
@pytest.mark.parametrize("augment", [EVERYTHING, ("three_augment", "mixup")], ids=["cut", "whole"])
def test_resume_with_every_stage_is_exact(records, augment):
    """The first from files, the second from memory image by image."""
    options = {"augment": augment, "repeats": 2, "label_smoothing": 0.1}
    whole = batches(records, 7, **options)
    rest = batches(records, 2, start_step=5, **options)
    for ours, theirs in zip(rest, whole[5:], strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
    assert not np.array_equal(whole[0][0], whole[1][0])


@pytest.mark.prove
def test_images_on_their_own_are_the_same_from_memory_and_from_files(records):
    kept, read = (
        batches(records, 3, augment=("color_jitter", "flip"), cache_bytes=size)
        for size in (2**20, 0)
    )
    for (ours, _), (theirs, _) in zip(kept, read, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_labels_are_smoothed_and_then_mixed(records):
    (plain,) = batches(records, 1)
    (mixed,) = batches(records, 1, augment=("mixup(1.0)",), label_smoothing=0.2)
    smooth = 0.8 * plain[1] + 0.1
    # The share that explains the labels explains the images, too.
    other = np.roll(smooth, 1, axis=0)
    share = float(np.sum((mixed[1] - other) * (smooth - other)) / np.sum((smooth - other) ** 2))
    assert 0.5 <= share < 1
    np.testing.assert_allclose(mixed[1], share * smooth + (1 - share) * other, atol=1e-6)
    expected = share * plain[0] + (1 - share) * np.roll(plain[0], 1, axis=0)
    np.testing.assert_allclose(mixed[0], expected, atol=1e-5)


def test_repeats_follow_one_another(records):
    plain = np.concatenate([images for images, _ in batches(records, 3)])
    twice = np.concatenate([images for images, _ in batches(records, 6, repeats=2)])
    np.testing.assert_array_equal(twice, np.repeat(plain, 2, axis=0))


@pytest.mark.prove
def test_one_channel_goes_through_everything(records):
    value = Preprocessing(image_size=8, mean=(0.5,), std=(0.5,))
    augment = ("resized_crop", "three_augment", "random_erasing", "cutmix")
    images, labels = next(iter(training_batches(records, value, 4, 3, augment=augment)))
    assert images.shape == (4, 8, 8, 1) and bool(tf.reduce_all(tf.math.is_finite(images)))
    np.testing.assert_allclose(tf.reduce_sum(labels, axis=1), np.ones(4), rtol=1e-6)
