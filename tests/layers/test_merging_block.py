import numpy as np
import pytest
from keras import ops

from keras_vit.layers import TransformerBlock
from keras_vit.layers.merging_block import MergingBlock
from tests.layers.arrays import arrays, close, random_weights
from tests.layers.test_token_merging import reference

OPTIONS = {"num_heads": 2, "mlp_dim": 11, "layer_scale": 0.5, "name": "block"}


def test_it_merges_between_attention_and_mlp():
    (tokens,) = arrays((2, 8, 6))
    groups = ops.convert_to_tensor(np.tile(np.arange(7, dtype="int32"), (2, 1)))
    block, plain = MergingBlock(merged=3, **OPTIONS), TransformerBlock(**OPTIONS)
    block(tokens, groups), plain(tokens)
    random_weights(block)
    assert [w.path for w in block.weights] == [w.path for w in plain.weights]
    plain.set_weights(block.get_weights())
    seen = plain.norm1(tokens)
    _, key, _ = plain.attention.qkv(seen)
    attended = ops.convert_to_numpy(tokens + plain.scale1(plain.attention(seen)))
    keys = ops.convert_to_numpy(key).mean(axis=1)
    expected = np.stack(
        [reference(a, k, np.ones(8), 3, 1)[0] for a, k in zip(attended, keys, strict=True)]
    ).astype("float32")
    expected = ops.convert_to_numpy(expected + plain.scale2(plain.mlp(plain.norm2(expected))))
    found, groups = block(tokens, groups)
    assert close(found, expected)
    assert [len(set(row)) for row in ops.convert_to_numpy(groups).tolist()] == [4, 4]


@pytest.mark.parametrize("prefix", [0, 2])
def test_without_merging_it_is_a_transformer_block(prefix):
    (tokens,) = arrays((2, 8, 6))
    groups = ops.convert_to_tensor(np.tile(np.arange(8 - prefix, dtype="int32"), (2, 1)))
    block, plain = MergingBlock(prefix=prefix, **OPTIONS), TransformerBlock(**OPTIONS)
    block(tokens, groups), plain(tokens)
    random_weights(block)
    plain.set_weights(block.get_weights())
    found, same = block(tokens, groups)
    assert close(found, ops.convert_to_numpy(plain(tokens)), 1e-6)
    np.testing.assert_array_equal(same, groups)
