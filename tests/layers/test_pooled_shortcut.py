import numpy as np
import pytest
from keras import ops

from keras_vit.layers import PooledShortcut
from tests.layers.arrays import arrays, close, random_weights

POOLS = {"average": np.mean, "max": np.max}


def pooled(x, pool):
    b, h, w, c = x.shape
    return POOLS[pool](x.reshape(b, h // 2, 2, w // 2, 2, c), axis=(2, 4))


@pytest.mark.parametrize("pool", POOLS)
def test_pool_then_project(pool):
    layer = PooledShortcut(7, True, pool)
    (x,) = arrays((2, 4, 6, 5))
    layer.build(x.shape)
    weights = random_weights(layer)
    expected = pooled(x, pool) @ weights["project/kernel"][0, 0] + weights["project/bias"]
    assert close(layer(x), expected)
    assert layer.compute_output_shape(x.shape) == (2, 2, 3, 7)


def test_the_identity_where_nothing_changes():
    layer = PooledShortcut(5)
    (x,) = arrays((2, 3, 5, 5))
    layer.build(x.shape)
    assert not layer.weights
    np.testing.assert_array_equal(layer(x), x)


def test_an_odd_side_cannot_be_halved():
    with pytest.raises(ValueError, match="even sides. Received: a map of 3 x 4"):
        PooledShortcut(5, True)(ops.ones((1, 3, 4, 5)))


def test_an_unknown_pool():
    with pytest.raises(ValueError, match=r"\['average', 'max'\]. Received: 'sum'"):
        PooledShortcut(5, True, "sum")
