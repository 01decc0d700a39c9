import keras
import numpy as np

from keras_vit.layers import Attention, CausalAttention
from keras_vit.layers.causal_attention import HIDDEN, causal_bias
from tests.layers.arrays import arrays, close


def made(kind, tokens, seed=3):
    layer, generator = kind(2), np.random.default_rng(seed)
    layer(tokens)
    layer.set_weights([generator.normal(size=weight.shape) for weight in layer.weights])
    return layer


def test_against_numpy():
    (tokens,) = arrays((2, 5, 6))
    layer = made(CausalAttention, tokens)
    kernel, bias, out, out_bias = (np.asarray(weight, "float64") for weight in layer.weights)
    query, key, value = np.einsum("bnc,cpkd->pbknd", tokens, kernel) + bias[:, None, :, None]
    scores = np.einsum("bknd,bkmd->bknm", query, key) / np.sqrt(3)
    scores = np.where(np.tri(5, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    merged = np.einsum("bknm,bkmd->bnkd", weights, value).reshape(2, 5, 6)
    assert close(layer(tokens), merged @ out + out_bias)
    assert close(layer.probabilities(tokens), weights)


def test_no_token_sees_a_later_one():
    (tokens,) = arrays((2, 5, 6))
    layer, other = made(CausalAttention, tokens), tokens.copy()
    other[:, 3:] += 1.0
    one, two = np.asarray(layer(tokens)), np.asarray(layer(other))
    np.testing.assert_array_equal(one[:, :3], two[:, :3])
    assert np.abs(one[:, 3:] - two[:, 3:]).min(axis=-1).max() > 1e-3


def test_the_last_token_sees_all():
    (tokens,) = arrays((2, 5, 6))
    last = [np.asarray(made(kind, tokens)(tokens))[:, -1] for kind in (Attention, CausalAttention)]
    assert close(*last)


def test_what_is_hidden_has_no_weight_in_any_precision():
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        scores = keras.ops.cast(causal_bias(3), dtype)
        weights = keras.ops.convert_to_numpy(keras.ops.softmax(scores)).astype("float64")
        assert (weights[0][np.triu_indices(3, 1)] == 0).all()
    assert causal_bias(3)[0, 0, 1] == HIDDEN
