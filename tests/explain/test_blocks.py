"""What a head reads, by hand; and which models have no such blocks."""

import keras
import numpy as np
import pytest

from keras_vit.explain.blocks import as_float64, block_names, blocks, seen_by_head
from keras_vit.factory import create_model
from tests.explain.tiny import images, tiny


def test_blocks_come_in_order_with_their_inputs():
    model = tiny(depth=2)
    found = blocks(model, images())
    assert list(found) == block_names(model) == ["block_0", "block_1"]
    first, second = found.values()
    np.testing.assert_allclose(first.layer(first.tokens), second.tokens, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "fields", "rows"),
    [
        ("vit_ti16", {}, [0]),
        ("vit_ti16", {"registers": 2}, [0]),
        ("deit_ti16", {}, [0, 1]),
        ("vit_ti16", {"pooling": "gap"}, range(1, 7)),
        ("vit_ti16", {"pooling": "map", "class_token": False}, range(6)),
    ],
)
def test_the_rows_that_the_head_reads(name, fields, rows):
    model = tiny(name, depth=1, **fields)
    prefix = model.config.num_prefix
    flow = np.random.default_rng(3).uniform(size=(2, 6 + prefix, 6 + prefix))
    expected = sum(flow[:, row, prefix:] for row in rows) / len(rows)
    np.testing.assert_allclose(seen_by_head(model, flow), expected.reshape(2, 2, 3), rtol=1e-12)


def test_a_hybrid_has_the_patches_of_its_images():
    fields = dict(units=(1, 1), root_width=32, patch_size=8, num_classes=3)
    sizes = dict(width=12, depth=1, num_heads=2, mlp_dim=8, image_size=(16, 24))
    model = create_model("r50_b16", **fields, **sizes)
    assert seen_by_head(model, np.zeros((1, 7, 7))).shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("swin_t", dict(width=8, depths=(1, 1), num_heads=(2, 2), window_size=2)),
        ("coatnet_0", dict(stages=(("attention", 8, 2, True),), stem_width=4, head_dim=4)),
    ],
)
def test_other_attention_is_refused(name, sizes):
    model = create_model(name, image_size=32, num_classes=2, **sizes)
    with pytest.raises(ValueError, match="blocks all attend to all tokens.*Received: (Swin|CoAt)"):
        block_names(model)


def test_with_relative_positions_all_tokens_see_all():
    model = tiny(position="relative", depth=1)
    assert block_names(model) == ["block_0"]
    (block,) = blocks(model, images()).values()
    found = block.layer.attention_probabilities(block.tokens)
    np.testing.assert_allclose(np.sum(found, axis=-1), 1, rtol=1e-12)


def test_a_performer_says_why_not():
    model = tiny(attention="performer", depth=1)
    with pytest.raises(ValueError, match="is a Performer: it never forms its attention"):
        block_names(model)


def test_a_users_own_model_is_refused():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    with pytest.raises(ValueError, match="Received: Sequential"):
        block_names(model)


def test_half_precision_becomes_float64():
    value = as_float64(keras.ops.convert_to_tensor([1.5], "bfloat16"))
    assert value.dtype == "float64" and value[0] == 1.5
    exact = as_float64(keras.ops.convert_to_tensor(np.array([1 / 3]), "float64"))
    assert exact[0] == 1 / 3
