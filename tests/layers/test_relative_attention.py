import numpy as np
import pytest
from keras import ops

from keras_vit.layers import RelativeAttention
from keras_vit.layers.windows import relative_index
from tests.layers.arrays import arrays, close, random_weights


def attend(x, weights, bias):
    """Attention of tokens `[b, n, c]` with a bias `[heads, n, n]`, in float64 numpy."""
    kernel, offset = weights["qkv/kernel"], weights["qkv/bias"]
    heads = np.einsum("bnc,cpkd->pbknd", x, kernel) + offset[:, None, :, None]
    query, key, value = heads
    scores = np.einsum("bknd,bkmd->bknm", query, key) / query.shape[-1] ** 0.5 + bias
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    gathered = np.einsum("bknm,bkmd->bnkd", scores, value)
    return gathered.reshape(*gathered.shape[:2], -1) @ weights["out/kernel"] + weights["out/bias"]


def bias_of(weights, grid):
    return weights["relative_bias"][relative_index(grid)].transpose(2, 0, 1)


def made(shape, **options):
    layer = RelativeAttention(2, (3, 5), **options)
    layer.build(shape)
    return layer, random_weights(layer)


def test_against_numpy():
    layer, weights = made((None, 15, 14))
    (x,) = arrays((3, 15, 14))
    assert close(layer(x), attend(x, weights, bias_of(weights, (3, 5))))


def test_a_map_of_another_width():
    layer, weights = made((None, 3, 5, 14), width=6)
    assert weights["qkv/kernel"].shape == (14, 3, 2, 3)
    (x,) = arrays((2, 3, 5, 14))
    expected = attend(x.reshape(2, 15, 14), weights, bias_of(weights, (3, 5)))
    assert close(layer(x), expected.reshape(2, 3, 5, 6))


def test_its_probabilities_are_those_it_uses():
    layer, _ = made((None, 15, 14))
    (x,) = arrays((2, 15, 14))
    weights = layer.probabilities(x)
    assert close(ops.sum(weights, axis=-1), np.ones((2, 2, 15)))
    value = ops.convert_to_numpy(layer.qkv(x)[2])
    gathered = np.einsum("bknm,bkmd->bnkd", weights, value).reshape(2, 15, 14)
    assert close(layer.out(gathered), layer(x))


def test_the_gradient_of_the_table_is_dense():
    """A sparse one gives Adam a wrong second moment on several replicas."""
    tf = pytest.importorskip("tensorflow")
    layer, _ = made((None, 15, 14))
    (x,) = arrays((2, 15, 14))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x) ** 2)
    assert isinstance(tape.gradient(loss, layer.relative_bias.value), tf.Tensor)


@pytest.mark.parametrize("shape", [(2, 14, 14), (2, 5, 3, 14)])
def test_another_number_of_tokens(shape):
    layer, _ = made((None, 15, 14))
    with pytest.raises(ValueError, match=r"\[b, 15, c\] or \[b, 3, 5, c\].*Received: shape"):
        layer(ops.ones(shape))
