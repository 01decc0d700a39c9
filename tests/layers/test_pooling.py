import numpy as np
import pytest

from keras_vit.layers import (
    AttentionPooling,
    MeanPooling,
    ProbeAttention,
    TokenAndMeanPooling,
    TokenPooling,
)
from tests.layers.arrays import arrays, close, random_weights
from tests.oracles import vit_numpy


def test_token_pooling_takes_the_first():
    (tokens,) = arrays((2, 5, 7))
    np.testing.assert_array_equal(TokenPooling()(tokens), tokens[:, 0])


@pytest.mark.parametrize("prefix", [0, 1, 3])
def test_mean_pooling_leaves_the_prefix_out(prefix):
    (tokens,) = arrays((2, 5, 7))
    layer = MeanPooling(prefix)
    assert close(layer(tokens), tokens[:, prefix:].mean(axis=1))
    tokens[:, :prefix] = 1e6
    assert close(layer(tokens), tokens[:, prefix:].mean(axis=1))


@pytest.mark.parametrize("prefix", [1, 3])
def test_token_and_mean_pooling(prefix):
    (tokens,) = arrays((2, 5, 7))
    expected = np.concatenate([tokens[:, 0], tokens[:, prefix:].mean(axis=1)], axis=-1)
    assert close(TokenAndMeanPooling(prefix)(tokens), expected)


def test_attention_pooling_against_numpy():
    layer = AttentionPooling(2, 11, "gelu_tanh", 1e-5)
    (tokens,) = arrays((3, 5, 14))
    layer.build(tokens.shape)
    weights = {f"pool/{path}": value for path, value in random_weights(layer).items()}
    config = {"norm_epsilon": 1e-5, "activation": "gelu_tanh"}
    assert close(layer(tokens), vit_numpy.attention_pool(tokens, weights, config))


def test_probe_attention_with_several_probes_against_numpy():
    layer = ProbeAttention(2)
    probe, tokens = arrays((3, 4, 14), (3, 5, 14))
    layer.build(probe.shape, tokens.shape)
    weights = random_weights(layer)
    query = vit_numpy.heads_of(probe, weights["query/kernel"], weights["query/bias"])
    key, value = (
        vit_numpy.heads_of(
            tokens, weights["key_value/kernel"][:, part], weights["key_value/bias"][part]
        )
        for part in (0, 1)
    )
    expected = vit_numpy.dense(vit_numpy.attend(query, key, value), weights, "out")
    assert close(layer(probe, tokens), expected)


@pytest.mark.parametrize("activation", ["swish", None])
def test_an_unknown_activation(activation):
    with pytest.raises(ValueError, match="`activation` must be one of"):
        AttentionPooling(2, 11, activation)
