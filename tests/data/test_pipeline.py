import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import (
    Boxes,
    Captions,
    Tags,
    Unlabelled,
    evaluation_batches,
    normalised,
    open_data,
    training_batches,
)
from keras_vit.data.decode import decode, fit
from keras_vit.layers import Preprocessing
from tests.data.pictures import write_folder

VALUE = Preprocessing(image_size=8, mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.4))


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    return open_data(write_folder(folder, {"cat": 6, "dog": 5}, size=(12, 10)))


@pytest.fixture(scope="module")
def pixels(records):
    return np.stack([fit(decode(records.read(i)), VALUE) for i in range(len(records))])


def take(dataset, count):
    return [tuple(part.numpy() for part in batch) for batch in itertools.islice(dataset, count)]


def take_nested(dataset, count):
    return list(itertools.islice(dataset.as_numpy_iterator(), count))


def same(one, other):
    return all(
        np.array_equal(a, b)
        for x, y in zip(one, other, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def identify(images, pixels):
    """The index of each normalised image, which may not have been augmented."""
    expected = VALUE.normalize(pixels).numpy()
    return [int(np.argmin(np.abs(expected - image).sum(axis=(1, 2, 3)))) for image in images]


def test_batches_are_normalised_images_with_their_labels(records, pixels):
    batches = training_batches(records, VALUE, 4, seed=3)
    assert batches.element_spec[0].shape.as_list()[1:] == [8, 8, 3]
    expected = VALUE.normalize(pixels).numpy()
    for images, labels in take(batches, 3):
        assert images.dtype == labels.dtype == np.float32 and labels.shape == (4, 2)
        index = identify(images, pixels)
        np.testing.assert_array_equal(images, expected[index])
        np.testing.assert_array_equal(labels.argmax(1), records.labels[index])


def test_every_epoch_has_every_image_once_in_another_order(records, pixels):
    images = np.concatenate([x for x, _ in take(training_batches(records, VALUE, 4, 3), 9)])
    order = identify(images[:33], pixels)
    epochs = [order[0:11], order[11:22], order[22:33]]
    assert all(sorted(epoch) == list(range(11)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


AUGMENT = [(), ("flip", "shift"), ("inception_crop", "flip")]


@pytest.mark.parametrize("cache", [0, 2**20], ids=["files", "memory"])
@pytest.mark.parametrize("augment", AUGMENT, ids=str)
def test_resume_at_any_step_is_exact(records, augment, cache):
    whole = take(training_batches(records, VALUE, 4, 3, augment=augment, cache_bytes=cache), 8)
    rest = training_batches(records, VALUE, 4, 3, start_step=5, augment=augment, cache_bytes=cache)
    assert same(whole[5:], take(rest, 3))


def test_another_seed_gives_other_batches(records):
    one, other = (take(training_batches(records, VALUE, 4, seed), 3) for seed in (3, 4))
    assert not same(one, other)


@pytest.mark.parametrize("augment", AUGMENT, ids=str)
def test_memory_changes_nothing(records, augment):
    kept, read = (
        take(training_batches(records, VALUE, 4, 3, augment=augment, cache_bytes=size), 4)
        for size in (2**20, 0)
    )
    assert same(kept, read)


def test_an_image_is_augmented_the_same_in_batches_of_any_size(records):
    def stream(batch_size, count):
        batches = training_batches(records, VALUE, batch_size, 3, augment=("flip", "shift"))
        return np.concatenate([images for images, _ in take(batches, count)])

    np.testing.assert_array_equal(stream(4, 7), stream(28, 1))  # 28: more than there are images


def test_augmentation_differs_between_epochs(records, pixels):
    batches = training_batches(records, VALUE, 11, 3, augment=("flip", "shift"))
    plain = training_batches(records, VALUE, 11, 3)
    seen = {}
    for (images, _), (originals, _) in zip(take(batches, 6), take(plain, 6), strict=True):
        for image, index in zip(images, identify(originals, pixels), strict=True):
            seen.setdefault(index, set()).add(image.tobytes())
    assert min(len(variants) for variants in seen.values()) >= 2


def test_evaluation_is_in_order_and_repeats(records, pixels):
    for cache in (0, 2**20):
        batches = evaluation_batches(records, VALUE, 4, cache_bytes=cache)
        first, again = take(batches, 99), take(batches, 99)
        assert same(first, again) and [len(x) for x, _ in first] == [4, 4, 3]
        images, labels = (np.concatenate(parts) for parts in zip(*first, strict=True))
        assert images.dtype == np.float32
        np.testing.assert_array_equal(images, pixels)
        np.testing.assert_array_equal(labels, records.labels)


def test_normalised_is_the_preprocessings_own(records, pixels):
    ((images, labels),) = take(normalised(evaluation_batches(records, VALUE, 11), VALUE), 9)
    np.testing.assert_array_equal(images, VALUE.normalize(pixels).numpy())
    np.testing.assert_array_equal(labels, records.labels)


def test_one_channel(records):
    value = Preprocessing(image_size=8, mean=(0.5,), std=(0.5,))
    ((images, _),) = take(training_batches(records, value, 4, 3, augment=("shift",)), 1)
    assert images.shape == (4, 8, 8, 1)


KINDS = {
    "tags": Tags("abc", np.eye(3, dtype="uint8")[[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]]),
    "captions": Captions([f"picture {i}" for i in range(11)]),
    "boxes": Boxes.of("ab", [[[0, 0, 1, (i + 1) / 11]] for i in range(11)], [[1]] * 11),
    "none": Unlabelled(11),
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_targets_stay_with_their_images(records, pixels, kind):
    some = dataclasses.replace(records, targets=KINDS[kind])
    ((images, *targets),) = take_nested(training_batches(some, VALUE, 5, 3), 1)
    expected = KINDS[kind].for_training(identify(images, pixels))
    tf.nest.map_structure(np.testing.assert_array_equal, tuple(targets), expected)
    batches = take_nested(normalised(evaluation_batches(some, VALUE, 11), VALUE), 9)
    ((images, *targets),) = batches
    np.testing.assert_array_equal(images, VALUE.normalize(pixels).numpy())
    expected = KINDS[kind].for_evaluation(range(11))
    tf.nest.map_structure(np.testing.assert_array_equal, tuple(targets), expected)


def test_labels_are_needed_to_smooth_them(records):
    some = dataclasses.replace(records, targets=Unlabelled(11))
    with pytest.raises(ValueError, match="need classes to work on. Received: Unlabelled"):
        training_batches(some, VALUE, 4, 3, label_smoothing=0.1)


def test_boxes_do_not_follow_a_flip(records):
    some = dataclasses.replace(records, targets=KINDS["boxes"])
    with pytest.raises(ValueError, match="`augment` must be empty for images with boxes"):
        training_batches(some, VALUE, 4, 3, augment=("flip",))


def test_one_class_only(tmp_path):
    one = open_data(write_folder(tmp_path, {"cat": 3}))
    with pytest.raises(ValueError, match="All images are of one class, 'cat', .*: add images"):
        training_batches(one, VALUE, 2, 3)
    assert len(take(evaluation_batches(one, VALUE, 2), 9)) == 2  # to evaluate on one is fine


def test_fewer_images_than_a_batch(records, pixels):
    images, labels = take(training_batches(records.select([4, 8]), VALUE, 7, 3), 1)[0]
    index = identify(images, pixels)
    assert sorted(index[:2]) == sorted(index[2:4]) == sorted(index[4:6]) == [4, 8]
    np.testing.assert_array_equal(labels.argmax(1), records.labels[index])


def test_arguments_are_checked(records):
    with pytest.raises(ValueError, match="There are no images"):
        training_batches(records.select([]), VALUE, 4, 3)
    with pytest.raises(ValueError, match="`batch_size` must be at least 1. Received: 0"):
        evaluation_batches(records, VALUE, 0)
    with pytest.raises(ValueError, match="`start_step` must be at least 0. Received: -1"):
        training_batches(records, VALUE, 4, 3, start_step=-1)
    with pytest.raises(ValueError, match="`augment` must be of"):
        training_batches(records, VALUE, 4, 3, augment=("flop",))
    four = Preprocessing(image_size=8, mean=(0.5,) * 4, std=(0.5,) * 4)
    with pytest.raises(ValueError, match="`channels` must be 1 or 3"):
        evaluation_batches(records, four, 4)


def test_a_broken_image_stops_and_is_not_trained_on(tmp_path):
    folder = write_folder(tmp_path, {"cat": 2, "dog": 1})
    (folder / "cat/001.png").write_bytes(b"text")
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a JPEG, PNG"):
        take(training_batches(open_data(folder), VALUE, 3, 0, cache_bytes=0), 1)
