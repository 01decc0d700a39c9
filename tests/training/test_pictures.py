"""Pictures inside a page."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from keras_vit.training.pictures import BAD_TINT, GOOD_TINT, data_uri, enlarged, wall

NAMES = ("a<b", "c", "d")


def decoded(uri):
    head, _, data = uri.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def canvas(svg):
    return decoded(re.search(r'href="(data:[^"]+)"', svg)[1])


def test_a_data_uri_holds_the_picture():
    picture = np.random.default_rng(5).integers(0, 256, (5, 7, 3)).astype("uint8")
    np.testing.assert_array_equal(decoded(data_uri(picture)), picture)


def test_small_pictures_keep_square_pixels():
    picture = np.arange(6, dtype="uint8").reshape(2, 3)
    result = enlarged(picture, 10)
    assert result.shape == (6, 9, 3)
    np.testing.assert_array_equal(result[::3, ::3, 0], picture)


def test_large_pictures_shrink_in_proportion():
    assert enlarged(np.zeros((300, 600, 3), "uint8"), 100).shape == (50, 100, 3)


def test_the_wall_has_a_row_a_class_and_rings_the_mistakes():
    pictures = np.full((5, 8, 8, 1), 255.0)
    svg = wall(pictures, [0, 0, 0, 1, 2], [0, 1, 0, 1, 2], NAMES)
    assert svg.count("<rect") == 1
    assert "<title>a&lt;b taken for c</title>" in svg
    image = canvas(svg)
    side = image.shape[0] // 3
    assert image.shape[1] == 3 * side
    middle = image[side // 2 :: side, side // 2 :: side]
    assert middle[0].tolist() == [list(BAD_TINT), list(GOOD_TINT), list(GOOD_TINT)]
    assert middle[1].tolist() == [list(GOOD_TINT), [0, 0, 0], [0, 0, 0]]


def test_colours_are_left_as_they_are():
    pictures = np.zeros((2, 8, 8, 3), "uint8")
    pictures[..., 1] = 200
    image = canvas(wall(pictures, [0, 1], [0, 0], NAMES))
    assert image[image.any(axis=-1)].tolist()[0] == [0, 200, 0]


@pytest.mark.parametrize(("count", "classes"), [(600, 2), (600, 100), (13, 13)])
def test_a_wall_of_many_pictures_is_bounded(count, classes):
    labels = np.arange(count) % classes
    names = [str(i) for i in range(classes)]
    image = canvas(wall(np.ones((count, 4, 4, 1)), labels, labels, names))
    assert np.prod(image.shape[:2]) < 1000 * 38 * 38
