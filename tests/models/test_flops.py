import pytest

from keras_vit.models import NAMES, ViTConfig
from keras_vit.models.flops import forward_flops, training_flops

# 2 x 3 patches of 5 x 7 pixels with 2 channels; width 12.
TINY = {
    "image_size": (10, 21), "patch_size": (5, 7), "channels": 2, "width": 12, "depth": 1,
    "num_heads": 3, "mlp_dim": 13, "num_classes": 11,
}  # fmt: skip


def test_by_hand():
    # 6 patches of 70 numbers to 12; 7 tokens with the class token.
    projection = 6 * 70 * 12
    qkv, scores, values, out = 7 * 12 * 36, 7 * 7 * 12, 7 * 7 * 12, 7 * 12 * 12
    mlp = 7 * 12 * 13 + 7 * 13 * 12
    head = 12 * 11
    products = projection + qkv + scores + values + out + mlp + head
    assert forward_flops(ViTConfig(**TINY)) == 2 * products
    # All but the projection has two products in the backward pass.
    expected = 2 * (3 * products - projection)
    assert training_flops(ViTConfig(**TINY)) == expected


@pytest.mark.parametrize(
    ("fields", "more"),
    [
        # One more token: its products with the weights; scores and values of 8 x 8, not 7 x 7.
        ({"registers": 1}, 4 * 12 * 12 + 2 * (64 - 49) * 12 + 2 * 12 * 13),
        ({"mlp": "swiglu", "activation": "silu"}, 7 * 12 * 13),
        ({"representation_size": 17}, 12 * 17 + 17 * 11 - 12 * 11),
        ({"num_classes": 0}, -12 * 11),
        ({"pooling": "token_and_mean"}, 12 * 11),
        ({"pooling": "none"}, 6 * 12 * 11),
        # Query and out of one probe, key and value of 6 tokens, scores and values, the MLP.
        ({"pooling": "map"}, 2 * 144 + 6 * 2 * 144 + 2 * 6 * 12 + 2 * 12 * 13),
    ],
)
def test_what_a_field_changes(fields, more):
    plain, changed = (forward_flops(ViTConfig(**{**TINY, **more})) for more in ({}, fields))
    assert changed - plain == 2 * more


# Billions of multiplications, as DeiT's and others' tables give them. What XLA counts in a whole
# step is compared in tests/training/tpu/test_jax_step.py.
@pytest.mark.parametrize(
    ("name", "billions"),
    [("vit_ti16", 1.3), ("vit_s16", 4.6), ("vit_b16", 17.6), ("vit_l16", 61.6)],
)
def test_published_counts(name, billions):
    _, fields = NAMES[name]
    assert round(forward_flops(ViTConfig(**fields)) / 2e9, 1) == billions


def test_a_performers_attention_grows_with_the_tokens():
    small = {
        "width": 6,
        "depth": 1,
        "num_heads": 2,
        "mlp_dim": 5,
        "patch_size": 4,
        "num_classes": 0,
    }
    performer = {**small, "attention": "performer", "random_features": 7, "pooling": "gap"}
    for side in (8, 16):
        config, plain = ViTConfig(**performer, image_size=side), ViTConfig(**small, image_size=side)
        tokens = (side // 4) ** 2 + 1
        # Features of queries and keys, the sum over keys, the two products with it.
        attention = 2 * tokens * 7 * 6 + 2 * tokens * 7 * 6 + tokens * 7 * 2
        more = forward_flops(config) - forward_flops(plain)
        assert more == 2 * (attention - 2 * tokens**2 * 6)
