import numpy as np
import pytest
from keras import ops

from keras_vit.layers import PatchMerging
from keras_vit.layers.patch_merging import neighbours
from tests.layers.arrays import arrays, close, random_weights
from tests.oracles import vit_numpy


def by_slices(x):
    """As in the paper's code: rows before columns."""
    x = np.pad(x, ((0, 0), (0, x.shape[1] % 2), (0, x.shape[2] % 2), (0, 0)))
    parts = x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]
    return np.concatenate(parts, axis=-1)


@pytest.mark.parametrize("size", [(4, 6), (5, 6), (4, 7), (3, 5)])
def test_neighbours(size):
    (x,) = arrays((2, *size, 3))
    np.testing.assert_array_equal(ops.convert_to_numpy(neighbours(x)), by_slices(x))


def test_against_numpy():
    layer = PatchMerging(1e-5)
    (x,) = arrays((2, 5, 6, 7))
    layer.build(x.shape)
    weights = random_weights(layer)
    assert set(weights) == {"norm/gamma", "norm/beta", "reduction/kernel"}
    normed = vit_numpy.norm(by_slices(x), weights, "norm", 1e-5)
    assert close(layer(x), normed @ weights["reduction/kernel"])
