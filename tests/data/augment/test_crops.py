import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data.augment import InceptionCrop, ResizedCrop, SquareCrop
from keras_vit.data.augment.crops import cut
from tests.data.augment.scene import IMAGES, KEYS


def test_a_cut_is_numpys():
    part = cut(IMAGES[0], tf.constant([3, 5, 7, 11]))
    np.testing.assert_array_equal(part, IMAGES[0, 3:10, 5:16])
    assert part.dtype == "uint8"


@pytest.mark.parametrize("crop", [InceptionCrop(), ResizedCrop(), SquareCrop()], ids=repr)
def test_a_crop_cuts_its_box_and_is_repeatable(crop):
    boxes = [crop.window(tf.constant([16, 24]), key).numpy() for key in KEYS[:8]]
    for key, (top, left, height, width) in zip(KEYS[:8], boxes, strict=True):
        expected = IMAGES[0, top : top + height, left : left + width]
        np.testing.assert_array_equal(crop(IMAGES[0], key), expected)
    assert len({tuple(box) for box in boxes}) >= 6


@pytest.mark.parametrize("crop", [InceptionCrop(), ResizedCrop(), SquareCrop()], ids=repr)
@pytest.mark.parametrize("size", [(1, 1), (1, 29), (31, 2)])
def test_a_crop_of_hardly_anything_is_something(crop, size):
    for key in KEYS[:8]:
        top, left, height, width = crop.window(tf.constant(size), key).numpy()
        assert height >= 1 and width >= 1 and top >= 0 and left >= 0
        assert top + height <= size[0] and left + width <= size[1]
