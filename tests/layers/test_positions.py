import numpy as np
import pytest

from keras_vit.layers import sincos2d
from tests.oracles import vit_numpy


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(("grid", "width"), [((3, 5), 12), ((1, 7), 20), ((2, 3), 8)])
def test_against_numpy(grid, width, last):
    steps = vit_numpy.moco_frequencies if last else vit_numpy.mae_frequencies
    expected = vit_numpy.sincos_2d(grid, width, steps(width))
    np.testing.assert_allclose(sincos2d(grid, width, last), expected, atol=1e-14)


def test_golden_vectors():
    row_1_column_2 = sincos2d((2, 3), 8, last_frequency=False)[5]
    expected = [0.909297, 0.019999, -0.416147, 0.9998, 0.841471, 0.01, 0.540302, 0.99995]
    np.testing.assert_allclose(row_1_column_2, expected, atol=6e-7)
    expected = [0.909297, 0.0002, -0.416147, 1, 0.841471, 0.0001, 0.540302, 1]
    np.testing.assert_allclose(sincos2d((2, 3), 8)[5], expected, atol=6e-7)


def test_one_frequency():
    np.testing.assert_allclose(sincos2d((1, 2), 4)[1], np.array([np.sin(1), np.cos(1), 0, 1]))


def test_the_width_must_be_a_multiple_of_four():
    with pytest.raises(ValueError, match="`width` must be a multiple of 4.*Received: 14"):
        sincos2d((2, 3), 14)
