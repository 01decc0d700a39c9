import numpy as np
import pytest

from keras_vit.data.augment import Shift
from tests.data.augment.scene import IMAGES, KEYS


@pytest.mark.parametrize("fill", ["zero", "edge"])
def test_it_is_numpys_pad_and_cut(fill):
    images = IMAGES.numpy()
    out = Shift(fill=fill)(IMAGES, KEYS).numpy()
    down, right = 2, 3  # an eighth of 16 and of 24
    mode = {"zero": "constant", "edge": "edge"}[fill]
    padded = np.pad(images, [(0, 0), (down, down), (right, right), (0, 0)], mode)
    moves = [(y, x) for y in range(2 * down + 1) for x in range(2 * right + 1)]
    found = []
    for image, wide in zip(out, padded, strict=True):
        found += [m for m in moves if (wide[m[0] : m[0] + 16, m[1] : m[1] + 24] == image).all()]
    assert len(found) == 64
    assert {y for y, _ in found} == set(range(5)) and {x for _, x in found} == set(range(7))


def test_less_than_a_pixel_changes_nothing():
    np.testing.assert_array_equal(Shift(share=1 / 32)(IMAGES, KEYS), IMAGES)


def test_the_fill_is_checked():
    with pytest.raises(ValueError, match="`fill` must be one of .*Received: 'mirror'"):
        Shift(fill="mirror")
