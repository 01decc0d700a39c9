import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.data.augment import ops
from keras_vit.data.augment.ops.geometry import colour
from tests.data.augment.ops.pillow import PICTURES, apart, array_of, image_of

FILL = (124, 116, 104)


def by_matrix(matrix):
    """A change of Pillow's from `(value, image)` to its six numbers."""

    def change(image, value, resample):
        numbers = matrix(value, *image.size)
        fill = FILL if image.mode == "RGB" else 115
        return image.transform(image.size, Image.AFFINE, numbers, resample, fillcolor=fill)

    return change


def turned(image, degrees, resample):
    fill = FILL if image.mode == "RGB" else 115
    return image.rotate(degrees, resample, fillcolor=fill)


THEIRS = {
    "rotate": turned,
    "shear_x": by_matrix(lambda value, w, h: (1, value, 0, 0, 1, 0)),
    "shear_y": by_matrix(lambda value, w, h: (1, 0, 0, value, 1, 0)),
    "translate_x": by_matrix(lambda value, w, h: (1, 0, value * w, 0, 1, 0)),
    "translate_y": by_matrix(lambda value, w, h: (1, 0, 0, 0, 1, value * h)),
}
VALUES = {"rotate": (-30.0, -7.3, 0.0, 11.0, 57.0)}
CASES = [(name, v) for name in THEIRS for v in VALUES.get(name, (-0.41, -0.13, 0.0, 0.07, 0.3))]


@pytest.mark.parametrize("picture", ["noise", "waves", "grey"])
@pytest.mark.parametrize("name, value", CASES)
def test_bilinear_is_pillows(name, value, picture):
    """At most a level apart: both round down, from float32 and from float64."""
    image = PICTURES[picture]
    expected = array_of(THEIRS[name](image_of(image), value, Image.BILINEAR))
    out = getattr(ops, name)(tf.constant(image), value, FILL)
    assert out.dtype == "uint8" and out.shape == image.shape
    assert apart(out, expected) <= 1


@pytest.mark.parametrize("picture", ["noise", "grey"])
@pytest.mark.parametrize("name, value", CASES)
def test_nearest_is_pillows(name, value, picture):
    """But where a pixel comes from between two others: Pillow counts in 1/65536 of a pixel."""
    image = PICTURES[picture]
    expected = array_of(THEIRS[name](image_of(image), value, Image.NEAREST))
    out = getattr(ops, name)(tf.constant(image), value, FILL, "nearest").numpy()
    other = (out != expected).any(axis=-1).sum()
    assert other <= 2, other


def test_the_fill_has_a_level_a_channel():
    assert colour(9, 3).numpy().tolist() == [9, 9, 9]
    assert colour(FILL, 3).numpy().tolist() == list(FILL)
    assert colour(FILL, 1).numpy().tolist() == [115]


def test_a_whole_pixel_moves_without_loss():
    image = PICTURES["noise"]
    out = ops.translate_x(tf.constant(image), 2 / 43, 128).numpy()
    np.testing.assert_array_equal(out[:, :-2], image[:, 2:])
    assert (out[:, -2:] == 128).all()
