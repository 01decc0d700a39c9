import numpy as np
import pytest

from keras_vit.models import ViT, ViTConfig
from keras_vit.weights.tables import keras_hub

SIZES = {
    "image_size": (14, 35),
    "patch_size": (7, 5),
    "width": 12,
    "depth": 1,
    "num_heads": 3,
    "mlp_dim": 16,
    "num_classes": 11,
}
# As KerasHub 0.32 lists them, the part that holds them in front.
HEAD = "pre_logits/kernel pre_logits/bias predictions/kernel predictions/bias"
ATTENTION = """
query/kernel query/bias key/kernel key/bias value/kernel value/bias
attention_output/kernel attention_output/bias
""".split()
PLAIN_BLOCK = [
    *(f"{norm}/{kind}" for norm in ("ln_1", "ln_2") for kind in ("gamma", "beta")),
    *(f"mha/{name}" for name in ATTENTION),
]
DINOV2_BLOCK = [
    *(f"{norm}/{kind}" for norm in ("norm1", "norm2") for kind in ("gamma", "beta")),
    *(f"attention/attention/{name}" for name in ATTENTION),
    "layer_scale1/lambda1",
    "layer_scale2/lambda1",
]


def linear(*names):
    return [f"{name}/{kind}" for name in names for kind in ("kernel", "bias")]


def in_block(block, names):
    return [f"encoder/{block}/{name}" for name in names]


CASES = {
    "vit": (
        keras_hub.VIT,
        {"representation_size": 13},
        [
            "embeddings/class_token",
            *linear("embeddings/patch_embedding"),
            "embeddings/position_embedding/embeddings",
            *in_block("transformer_block_1", PLAIN_BLOCK),
            *in_block("transformer_block_1", linear("mlp/dense_1", "mlp/dense_2")),
            "encoder/ln/gamma",
            "encoder/ln/beta",
            *HEAD.split(),
        ],
    ),
    "deit": (
        keras_hub.DEIT,
        {"registers": 1, "num_classes": 0},
        [
            "embeddings/class_token",
            "embeddings/distillation_token",
            "embeddings/position_embedding",
            *linear("embeddings/patch_embedding"),
            *in_block("transformer_block_1", PLAIN_BLOCK),
            *in_block("transformer_block_1", linear("mlp/dense", "output_layer/output")),
            "encoder/ln/gamma",
            "encoder/ln/beta",
        ],
    ),
    "dinov2": (
        keras_hub.DINOV2,
        {"registers": 2, "layer_scale": 0.1, "mlp": "swiglu", "num_classes": 0},
        [
            "embeddings/cls_token",
            "embeddings/register_tokens",
            "embeddings/interpolated_position_embeddings",
            *linear("embeddings/patch_embeddings/projection"),
            *in_block("layers_0", DINOV2_BLOCK),
            *in_block("layers_0", linear("mlp/weights_in", "mlp/weights_out")),
            "layernorm/gamma",
            "layernorm/beta",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_weight_and_each_variable_stands_in_the_table_once(name):
    table, fields, theirs = CASES[name]
    config = ViTConfig(**{**SIZES, **fields})
    entries = table.entries(config)
    names = [foreign for entry in entries for foreign in entry.options[0][0]]
    assert sorted(names) == sorted(theirs)
    assert sorted(entry.ours for entry in entries) == sorted(v.path for v in ViT(config).weights)


def test_blocks_are_counted_from_one_in_vit_and_from_zero_in_dinov2():
    config = ViTConfig(**{**SIZES, "depth": 2, "layer_scale": 0.1})
    for table, first in ((keras_hub.VIT, "transformer_block_1"), (keras_hub.DINOV2, "layers_0")):
        norm = next(e for e in table.entries(config) if e.ours == "block_0/norm1/gamma")
        assert norm.options[0][0][0].split("/")[1] == first


def test_the_projections_of_query_key_and_value_stay_apart():
    entries = keras_hub.VIT.entries(ViTConfig(**SIZES))
    entry = next(e for e in entries if e.ours == "block_0/attention/qkv/kernel")
    names, layout = entry.options[0]
    parts = [np.full((12, 3, 4), value) for value in (1.0, 2.0, 3.0)]
    ours = layout.to_ours(*parts)
    assert [name.split("/")[-2] for name in names] == ["query", "key", "value"]
    assert ours.shape == (12, 3, 3, 4)
    np.testing.assert_array_equal(ours[5, :, 2, 1], [1, 2, 3])
    for part, back in zip(parts, layout.to_theirs(ours), strict=True):
        np.testing.assert_array_equal(back, part)


def test_the_embedding_table_gets_a_batch_axis():
    table = np.arange(30.0).reshape(5, 6)
    assert keras_hub.EMBEDDING.to_ours(table).shape == (1, 5, 6)
    np.testing.assert_array_equal(keras_hub.EMBEDDING.to_theirs(table[None])[0], table)


def test_what_no_model_of_ours_has_is_told():
    reason = keras_hub.DINOV2.reason_unused
    assert "masked" in reason("embeddings/mask_token")
    assert "resized" in reason("embeddings/position_embeddings")
    assert reason("embeddings/interpolated_position_embeddings") is None
