import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.layers import Attention, HeadProjection, TransformerBlock
from keras_vit.layers.attention import (
    PerProjection,
    attention_probabilities,
    head_dim,
    merge_heads,
)
from keras_vit.layers.transformer_block import attention_named
from tests.layers.arrays import arrays, close, random_weights
from tests.oracles import vit_numpy


def test_probabilities_against_numpy():
    query, key = arrays((2, 3, 5, 7), (2, 3, 11, 7))
    ours = ops.convert_to_numpy(attention_probabilities(query, key))
    # With the identity as the values, attention returns its own weights.
    identity = np.broadcast_to(np.eye(11), (2, 3, 11, 11))
    expected = vit_numpy.attend(query, key, identity).reshape(2, 5, 3, 11)
    assert close(ours, expected.transpose(0, 2, 1, 3))


def test_a_bias_is_added_to_the_scores():
    query, key, bias = arrays((2, 3, 5, 7), (2, 3, 11, 7), (3, 5, 11))
    scores = np.einsum("bknd,bkmd->bknm", query, key) / 7**0.5 + bias
    expected = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    for training in (False, True):
        assert close(attention_probabilities(query, key, training, bias), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_probabilities_are_computed_in_float32(dtype):
    # bfloat16 has 8 bits: a sum of 1000 weights of 0.001 in it would stop at 0.5.
    query, key = ops.zeros((1, 1, 1, 7), dtype), ops.zeros((1, 1, 1000, 7), dtype)
    weights = attention_probabilities(query, key)
    assert keras.backend.standardize_dtype(weights.dtype) == dtype
    total = ops.convert_to_numpy(ops.cast(weights, "float32")).sum()
    assert abs(total - 1) <= 2e-3


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_head_projection_against_numpy(parts):
    layer = HeadProjection(2, parts)
    (x,) = arrays((2, 5, 14))
    layer.build(x.shape)
    weights = random_weights(layer)
    kernel = weights["kernel"].reshape(14, parts, 2, 7)
    bias = weights["bias"].reshape(parts, 2, 7)
    outputs = layer(x)
    assert len(outputs) == parts
    for part, output in enumerate(outputs):
        assert close(output, vit_numpy.heads_of(x, kernel[:, part], bias[part]))


def test_projections_of_another_width():
    layer = HeadProjection(3, 2, width=6)
    (x,) = arrays((2, 5, 14))
    layer.build(x.shape)
    weights = random_weights(layer)
    assert weights["kernel"].shape == (14, 2, 3, 2)
    assert layer.compute_output_shape(x.shape) == [(2, 3, 5, 2)] * 2
    for part, output in enumerate(layer(x)):
        kernel, bias = weights["kernel"][:, part], weights["bias"][part]
        assert close(output, vit_numpy.heads_of(x, kernel, bias))


def test_attention_against_numpy():
    layer = Attention(2, name="attention")
    (x,) = arrays((3, 5, 14))
    layer.build(x.shape)
    weights = {f"attention/{path}": value for path, value in random_weights(layer).items()}
    assert close(layer(x), vit_numpy.attention(x, weights, "attention"))


def test_probabilities_of_the_layer_are_those_it_uses():
    layer = Attention(2)
    (x,) = arrays((3, 5, 14))
    layer.build(x.shape)
    random_weights(layer)
    weights = layer.probabilities(x)
    assert weights.shape == (3, 2, 5, 5)
    assert close(ops.sum(weights, axis=-1), np.ones((3, 2, 5)))
    value = layer.qkv(x)[2]
    assert close(layer.out(merge_heads(ops.matmul(weights, value))), layer(x))


def test_dropout_acts_in_training_only():
    layer = Attention(2, dropout=0.5)
    (x,) = arrays((3, 5, 14))
    still = ops.convert_to_numpy(layer(x))
    assert np.array_equal(still, layer(x, training=False))
    assert not np.allclose(still, layer(x, training=True))


def test_merge_heads_joins_head_by_head():
    (x,) = arrays((2, 3, 5, 7))
    np.testing.assert_array_equal(merge_heads(x)[1, 4, 7:14], x[1, 1, 4])


def test_each_projection_is_a_matrix_of_its_own():
    keras.utils.set_random_seed(3)
    kernel = ops.convert_to_numpy(PerProjection()((42, 3, 6, 7)))
    matrices = kernel.reshape(42, 3, 42).transpose(1, 0, 2)
    # Glorot: U(-limit, limit) with limit = sqrt(6 / (in + out)), of 42 x 42 and not of 42 x 126.
    limit = (6 / (42 + 42)) ** 0.5
    for matrix in matrices:
        assert 0.98 * limit < np.abs(matrix).max() <= limit
        assert abs(matrix.std() / (limit / 3**0.5) - 1) < 0.05
    for one, other in ((0, 1), (0, 2), (1, 2)):
        correlation = np.corrcoef(matrices[one].ravel(), matrices[other].ravel())[0, 1]
        assert abs(correlation) < 0.1


def test_the_projection_initializer_survives_serialisation():
    initializer = PerProjection("lecun_normal")
    again = PerProjection.from_config(initializer.get_config())
    assert isinstance(again.base, keras.initializers.LecunNormal)
    assert again.get_config() == initializer.get_config()


@pytest.mark.parametrize("heads", [3, 0, -2])
def test_heads_must_divide_the_width(heads):
    message = f"`num_heads` must divide `width`. Received: width=14, num_heads={heads}."
    blocks = [lambda: TransformerBlock(heads, 5), lambda: Attention(heads)]
    for make in [*blocks, lambda: HeadProjection(heads)]:
        with pytest.raises(ValueError) as caught:
            make().build((None, 5, 14))
        assert message in str(caught.value)
    assert head_dim(14, 2) == 7


def test_an_unknown_attention_lists_the_known():
    for make in (attention_named, lambda name: TransformerBlock(2, 5, attention=name)):
        with pytest.raises(
            ValueError, match=r"one of \['causal', .*'softmax', 'window'\].*Received: 'linear'"
        ):
            make("linear")
