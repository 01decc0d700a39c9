"""Heat maps over pictures."""

import numpy as np
import pytest

from keras_vit.explain.overlay import overlay, rgb, visible_part
from keras_vit.layers import Preprocessing


@pytest.mark.parametrize("shape", [(35, 21), (35, 21, 1), (35, 21, 3)])
def test_any_picture_becomes_rgb_at_its_own_size(shape):
    picture = np.full(shape, 128, "uint8")
    result = overlay(picture, np.arange(6.0).reshape(2, 3))
    assert result.shape == (35, 21, 3)
    assert result.dtype == np.uint8


def test_the_hot_corner_is_brighter_and_more_colourful_than_the_cold_one():
    heat = np.zeros((4, 4))
    heat[0, 0] = 1.0
    result = overlay(np.full((64, 64), 128, "uint8"), heat).astype(int)
    hot, cold = result[4, 4], result[60, 60]
    assert hot.mean() > cold.mean()
    assert np.ptp(hot) > 30
    assert np.ptp(cold) == 0


def test_the_scale_of_the_heat_does_not_matter():
    picture = np.arange(256, dtype="uint8").reshape(16, 16)
    heat = np.arange(16.0).reshape(4, 4)
    first, second = overlay(picture, heat), overlay(picture, 1e-4 * heat + 3)
    np.testing.assert_allclose(first.astype(int), second.astype(int), atol=1)


def test_an_even_heat_leaves_a_grey_picture():
    result = overlay(np.full((8, 8), 100, "uint8"), np.ones((2, 2)))
    assert (result == 55).all()


def test_rgb_rounds_and_clips_floats():
    np.testing.assert_array_equal(rgb(np.array([[-3.0, 1.6, 300.0]]))[0, :, 1], [0, 2, 255])


@pytest.mark.parametrize("shape", [(4,), (4, 4, 2), (1, 4, 4, 3)])
def test_a_picture_of_another_shape_is_an_error(shape):
    with pytest.raises(ValueError, match="`picture` must be"):
        overlay(np.zeros(shape, "uint8"), np.ones((2, 2)))


def test_a_heat_of_another_shape_is_an_error():
    with pytest.raises(ValueError, match="`heat` must be"):
        overlay(np.zeros((4, 4), "uint8"), np.ones(4))


def test_squash_sees_everything():
    picture = np.zeros((31, 17, 3))
    assert visible_part(picture, Preprocessing(224)) is picture


@pytest.mark.parametrize(
    ("size", "image_size", "crop", "box"),
    [
        ((100, 200), 50, 1.0, (0, 100, 50, 150)),
        ((200, 100), 50, 0.5, (75, 125, 25, 75)),
        ((90, 90), (30, 60), 1.0, (22, 67, 0, 90)),
        ((1, 1), 224, 0.875, (0, 1, 0, 1)),
    ],
)
def test_crop_sees_the_centre(size, image_size, crop, box):
    rows, columns = np.indices(size)
    seen = visible_part(
        np.stack([rows, columns], axis=-1), Preprocessing(image_size, resize="crop", crop=crop)
    )
    top, bottom, left, right = box
    assert seen.shape[:2] == (bottom - top, right - left)
    assert seen[0, 0].tolist() == [top, left]
