import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import Tags, Unlabelled, decode, from_arrays
from tests.data.pictures import noise


@pytest.mark.parametrize("shape", [(5, 7, 6), (5, 7, 6, 1), (5, 7, 6, 3)])
def test_pixels_come_back(shape):
    images = noise(*shape)
    records = from_arrays(images, [0, 1, 0, 1, 1], ["cat", "dog"])
    channels = shape[3] if len(shape) == 4 else 1
    read = tf.data.Dataset.range(5).map(lambda i: decode(records.encoded(i), channels))
    for i, got in enumerate(read.as_numpy_iterator()):
        np.testing.assert_array_equal(got.squeeze(), images[i].squeeze())
        np.testing.assert_array_equal(decode(records.read(i), channels), got)
    assert records.name(3) == "array#3" and records.labels.tolist() == [0, 1, 0, 1, 1]


def test_opacity_is_on_white():
    images = np.zeros((1, 2, 2, 4), "uint8")
    assert (decode(from_arrays(images).encoded(0)).numpy() == 255).all()


def test_targets():
    images = noise(3, 4, 4)
    assert isinstance(from_arrays(images).targets, Unlabelled)
    assert from_arrays(images, [0, 2, 1]).class_names == ("0", "1", "2")
    several = from_arrays(images, [[0, 1], [1, 1], [0, 0]], ["a", "b"])
    assert isinstance(several.targets, Tags) and several.class_sizes.tolist() == [1, 2]


def test_whole_levels_in_another_type():
    images = noise(2, 4, 4, 3)
    got = from_arrays(images.astype("float32"))
    np.testing.assert_array_equal(decode(got.read(1)), images[1])


@pytest.mark.parametrize(
    "images, message",
    [
        ([np.zeros((4, 4)), np.zeros((4, 4, 3))], r"one number of channels.*\(4, 4\), \(4, 4, 3\)"),
        (np.zeros((2, 4, 4, 5)), r"1, 3 or 4 channels. Received: shape=\(2, 4, 4, 5\)"),
        (np.full((2, 4, 4), 0.5), "not normalised ones. Received: values from 0.0 to 0.5"),
        (np.full((2, 4, 4), -1), "not normalised ones. Received: values from -1 to 0"),
    ],
)
def test_images_are_checked(images, message):
    with pytest.raises(ValueError, match=message):
        from_arrays(images)


def test_labels_are_checked():
    images = noise(2, 4, 4)
    with pytest.raises(ValueError, match=r"must be in \[0, 2\).*Received: 0 to 2"):
        from_arrays(images, [0, 2], ["a", "b"])
    with pytest.raises(ValueError, match="two classes of one name, 'a' and 'A'"):
        from_arrays(images, [0, 1], ["a", "A"])
    with pytest.raises(ValueError, match="Received: 3 targets, 2 positions"):
        from_arrays(images, [0, 1, 0])
