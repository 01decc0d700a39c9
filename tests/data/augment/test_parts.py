"""What holds for every part, and for their names."""

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import AUGMENTATIONS
from keras_vit.data.augment import STAGES, Flip, MixUp, RandAugment, Shift, augmentations
from tests.data.augment.scene import IMAGES, KEYS

BATCHED = [name for name, part in AUGMENTATIONS.items() if part.stage in ("fitted", "normalised")]
SINGLE = [name for name, part in AUGMENTATIONS.items() if part.stage == "image"]
LABELLED = [name for name, part in AUGMENTATIONS.items() if part.stage == "labelled"]


def test_every_part_has_a_stage():
    assert {part.stage for part in AUGMENTATIONS.values()} == set(STAGES)


@pytest.mark.parametrize("name", BATCHED)
def test_a_batch_equals_its_images_one_by_one(name):
    """An image becomes the same in any batch."""
    part = AUGMENTATIONS[name]
    for dtype in ("uint8", "float32") if part.stage == "fitted" else ("float32",):
        images = tf.cast(IMAGES[:9], dtype)
        batch = part(images, KEYS[:9])
        assert batch.dtype == dtype and batch.shape == images.shape
        assert (batch.numpy() != images.numpy()).any()
        for number in range(9):
            one = part(images[number : number + 1], KEYS[number : number + 1])
            np.testing.assert_array_equal(one[0], batch[number])


@pytest.mark.parametrize("name", BATCHED)
def test_static_shapes_survive_a_graph(name):
    dtype = tf.uint8 if AUGMENTATIONS[name].stage == "fitted" else tf.float32
    spec = tf.TensorSpec([None, 16, 24, 3], dtype)
    graph = tf.function(AUGMENTATIONS[name]).get_concrete_function(
        spec, tf.TensorSpec([None, 2], tf.int64)
    )
    assert graph.structured_outputs.shape.as_list() == [None, 16, 24, 3]


@pytest.mark.parametrize("name", SINGLE)
def test_an_image_stays_of_its_kind_in_a_graph(name):
    part = AUGMENTATIONS[name]
    # A policy takes seconds to trace; its changes are tested on grey pictures themselves.
    for channels in (3,) if name.endswith("_augment") else (1, 3):
        spec = tf.TensorSpec([16, 24, channels], tf.uint8)
        graph = tf.function(part, autograph=False).get_concrete_function(
            spec, tf.TensorSpec([2], tf.int64)
        )
        assert graph.structured_outputs.shape.as_list() == [16, 24, channels]
        assert graph.structured_outputs.dtype == "uint8"
        image = IMAGES[0, ..., :channels]
        outs = [graph(image, KEYS[i]).numpy() for i in (*range(8), *range(8))]
        np.testing.assert_array_equal(outs[:8], outs[8:])
        assert any((out != image.numpy()).any() for out in outs)


@pytest.mark.parametrize("name", LABELLED)
def test_mixing_knows_its_shapes_in_a_graph(name):
    graph = tf.function(AUGMENTATIONS[name]).get_concrete_function(
        tf.TensorSpec([None, 8, 6, 3], tf.float32),
        tf.TensorSpec([None, 5], tf.float32),
        tf.TensorSpec([None, 2], tf.int64),
    )
    images, labels = graph.structured_outputs
    assert images.shape.as_list() == [None, 8, 6, 3] and labels.shape.as_list() == [None, 5]


def test_names_may_have_arguments():
    parts = augmentations(("flip", "mixup(0.5)", "rand_augment(2, 15)", "mixup(0.1, 'example')"))
    assert parts == (Flip(), MixUp(0.5), RandAugment(2, 15), MixUp(0.1, "example"))
    assert augmentations((Shift(0.3),)) == (Shift(0.3),)


@pytest.mark.parametrize(
    "name, message",
    [
        ("flop", "`augment` must be of .*flip.*Received: 'flop'. Did you mean 'flip'"),
        ("mixup(2)", r"`mixup` takes \(alpha, per\).*Received: 'mixup\(2\)'.*between 0 and 1"),
        ("mixup(0.1, 'batch', 3)", r"`mixup` takes \(alpha, per\)"),
        ("mixup(x)", r"`mixup` takes \(alpha, per\)"),
    ],
)
def test_names_are_checked(name, message):
    with pytest.raises(ValueError, match=message):
        augmentations((name,))
