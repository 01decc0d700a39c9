"""The sine-cosine tables against golden values and against numpy."""

import numpy as np
import pytest

from keras_vit.layers import sincos2d
from tests.oracles import vit_numpy

# Width 8, grid 2 x 3, the patch at row 1, column 2.
GOLDEN = {
    True: [0.909297, 0.0002, -0.416147, 1.0, 0.841471, 0.0001, 0.540302, 1.0],
    False: [0.909297, 0.019999, -0.416147, 0.9998, 0.841471, 0.01, 0.540302, 0.99995],
}
FREQUENCIES = {True: vit_numpy.moco_frequencies, False: vit_numpy.mae_frequencies}


@pytest.mark.parametrize("last_frequency", [True, False], ids=["big_vision", "mae"])
def test_golden_row(last_frequency):
    table = sincos2d((2, 3), 8, last_frequency=last_frequency)
    assert table.shape == (6, 8)
    np.testing.assert_allclose(table[5], GOLDEN[last_frequency], rtol=0, atol=6e-7)


@pytest.mark.parametrize("grid", [(2, 3), (5, 3), (1, 7)])
@pytest.mark.parametrize("last_frequency", [True, False], ids=["big_vision", "mae"])
def test_numpy_agrees(last_frequency, grid):
    width = 28
    expected = vit_numpy.sincos_2d(grid, width, FREQUENCIES[last_frequency](width))
    table = sincos2d(grid, width, last_frequency=last_frequency)
    assert table.dtype == "float64"
    np.testing.assert_allclose(table, expected, rtol=0, atol=1e-14)


def test_column_comes_before_row():
    table = sincos2d((2, 3), 8)
    # Patch 1 stands at row 0, column 1: its row half is that of zero, its column half is not.
    np.testing.assert_array_equal(table[1, 4:], [0, 0, 1, 1])
    assert table[1, 0] == np.sin(1.0)


def test_width_must_be_a_multiple_of_four():
    with pytest.raises(ValueError, match="`width` must be a multiple of 4 .* Received: 21"):
        sincos2d((2, 3), 21)
