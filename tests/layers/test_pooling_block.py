import pytest

from keras_vit.layers import PoolingBlock
from tests.layers.arrays import arrays, close, random_weights
from tests.layers.test_pooled_shortcut import pooled
from tests.layers.test_relative_attention import attend, bias_of
from tests.oracles import vit_numpy


def below(weights, path):
    return {p.removeprefix(path): value for p, value in weights.items() if p.startswith(path)}


@pytest.mark.parametrize(("halve", "pool"), [(True, "max"), (True, "average"), (False, "max")])
def test_against_numpy(halve, pool):
    grid = (2, 3) if halve else (4, 6)
    layer = PoolingBlock(2, 11, grid, 14, halve=halve, pool=pool, norm_epsilon=1e-3)
    (x,) = arrays((2, 4, 6, 5))
    layer.build(x.shape)
    weights = random_weights(layer)
    seen, kept = vit_numpy.norm(x, weights, "norm1", 1e-3), x
    if halve:
        seen, kept = pooled(seen, pool), pooled(kept, pool)
    attention = below(weights, "attention/")
    attended = attend(seen.reshape(2, -1, 5), attention, bias_of(attention, grid))
    kernel, bias = weights["shortcut/project/kernel"][0, 0], weights["shortcut/project/bias"]
    y = kept @ kernel + bias + attended.reshape(2, *grid, 14)
    y = y + vit_numpy.mlp(vit_numpy.norm(y, weights, "norm2", 1e-3), weights, "mlp", "gelu")
    assert close(layer(x), y)
