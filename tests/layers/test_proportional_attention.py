import numpy as np
from keras import ops

from keras_vit.layers import Attention
from keras_vit.layers.proportional_attention import ProportionalAttention
from tests.layers.arrays import arrays, close, random_weights


def test_a_token_of_size_three_counts_as_three():
    (tokens,) = arrays((2, 5, 6))
    layer, plain = (kind(2, name="attention") for kind in (ProportionalAttention, Attention))
    sizes = np.array([[1, 3, 1, 2, 1]] * 2, "float32")
    layer(tokens, sizes), plain(tokens)
    random_weights(layer)
    plain.set_weights(layer.get_weights())
    repeated = np.repeat(tokens, [1, 3, 1, 2, 1], axis=1)
    expected = ops.convert_to_numpy(plain(repeated))[:, [0, 1, 4, 5, 7]]
    found, keys = layer(tokens, sizes)
    assert close(found, expected)
    _, key, _ = plain.qkv(tokens)
    assert close(keys, ops.convert_to_numpy(key).mean(axis=1))
