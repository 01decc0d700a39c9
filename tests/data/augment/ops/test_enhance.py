import colorsys

import numpy as np
import pytest
import tensorflow as tf
from PIL import ImageEnhance

from keras_vit.data.augment import ops
from tests.data.augment.ops.pillow import PICTURES, apart, array_of, image_of

THEIRS = {
    "brightness": ImageEnhance.Brightness,
    "color": ImageEnhance.Color,
    "contrast": ImageEnhance.Contrast,
    "sharpness": ImageEnhance.Sharpness,
}


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("factor", [0.0, 0.1, 0.55, 1.0, 1.9, 3.7])
@pytest.mark.parametrize("name", THEIRS)
def test_every_pixel_is_pillows(name, factor, picture):
    image = PICTURES[picture]
    expected = array_of(THEIRS[name](image_of(image)).enhance(factor))
    out = getattr(ops, name)(tf.constant(image), factor)
    assert out.dtype == "uint8" and out.shape == image.shape
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("turn", [-0.5, -0.11, 0.0, 0.3])
def test_hue_turns_in_hsv(turn):
    image = PICTURES["noise"]
    expected = np.empty(image.shape)
    for place in np.ndindex(image.shape[:2]):
        h, s, v = colorsys.rgb_to_hsv(*(image[place] / 255))
        expected[place] = colorsys.hsv_to_rgb((h + turn) % 1, s, v)
    # TensorFlow rounds the result down, and its float32 may end just below a whole level.
    assert apart(ops.hue(tf.constant(image), turn), np.round(expected * 255)) <= 1
    np.testing.assert_array_equal(ops.hue(tf.constant(PICTURES["grey"]), turn), PICTURES["grey"])
