import dataclasses

import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.layers import Preprocessing
from keras_vit.models import ViT, ViTConfig
from keras_vit.models.vit import PATCH_SIZES, POOLING, VARIANTS, variant_config
from tests.contract.cases import SMALL

IMAGES = np.random.default_rng(3).normal(size=(2, 6, 15, 5)).astype("float32")
BLOCK = [
    "norm1/gamma",
    "norm1/beta",
    "attention/qkv/kernel",
    "attention/qkv/bias",
    "attention/out/kernel",
    "attention/out/bias",
    "norm2/gamma",
    "norm2/beta",
    "mlp/fc1/kernel",
    "mlp/fc1/bias",
    "mlp/fc2/kernel",
    "mlp/fc2/bias",
]
POOL = [
    "probe",
    "attention/query/kernel",
    "attention/query/bias",
    "attention/key_value/kernel",
    "attention/key_value/bias",
    "attention/out/kernel",
    "attention/out/bias",
    "norm/gamma",
    "norm/beta",
    "mlp/fc1/kernel",
    "mlp/fc1/bias",
    "mlp/fc2/kernel",
    "mlp/fc2/bias",
]
ENCODER = ["class_token", "registers", "position", "projection/kernel", "projection/bias"]


def small(**fields):
    return ViT(ViTConfig(**{**SMALL, **fields}))


def below(prefix, paths):
    return {f"{prefix}/{path}" for path in paths}


def test_weight_paths():
    model = small(
        depth=2, registers=2, layer_scale=0.5, representation_size=13, pooling="map", dropout=0.1
    )
    expected = below("patch_encoder", ENCODER) | below("norm", ["gamma", "beta"])
    for index in range(2):
        expected |= below(f"block_{index}", [*BLOCK, "scale1/gamma", "scale2/gamma"])
    expected |= below("pool", POOL) | below("representation", ["kernel", "bias"])
    assert {w.path for w in model.weights} == expected | below("head", ["kernel", "bias"])


def test_weight_paths_without_the_optional_parts():
    model = small(class_token=False, pooling="gap", position="none", num_classes=0)
    expected = below("patch_encoder", ["projection/kernel", "projection/bias"])
    expected |= below("block_0", BLOCK) | below("norm", ["gamma", "beta"])
    assert {weight.path for weight in model.weights} == expected


def test_weight_paths_do_not_depend_on_the_models_built_before():
    one, other = small(pooling="map"), small(pooling="map")
    assert [w.path for w in one.weights] == [w.path for w in other.weights]


def test_weight_shapes():
    shapes = {w.path: tuple(w.shape) for w in small(registers=2, pooling="map").weights}
    assert shapes["patch_encoder/projection/kernel"] == (2 * 3 * 5, 14)
    assert shapes["patch_encoder/position"] == (1, 1 + 15, 14)
    assert shapes["patch_encoder/registers"] == (1, 2, 14)
    assert shapes["block_0/attention/qkv/kernel"] == (14, 3, 2, 7)
    assert shapes["block_0/attention/qkv/bias"] == (3, 2, 7)
    assert shapes["block_0/attention/out/kernel"] == (14, 14)
    assert shapes["pool/attention/query/kernel"] == (14, 2, 7)
    assert shapes["pool/attention/key_value/kernel"] == (14, 2, 2, 7)
    assert shapes["head/kernel"] == (14, 7)


@pytest.mark.parametrize("pooling", POOLING)
def test_features(pooling):
    model = small(pooling=pooling, registers=2)
    features = model.features(IMAGES)
    assert {name: tuple(value.shape) for name, value in features.items()} == {
        "tokens": (2, 15, 14),
        "prefix": (2, 3, 14),
        "pooled": {"none": (2, 18, 14), "token_and_mean": (2, 28)}.get(pooling, (2, 14)),
    }
    tokens, pooled = (ops.convert_to_numpy(features[name]) for name in ("tokens", "pooled"))
    expected = {
        "token": lambda: ops.convert_to_numpy(features["prefix"])[:, 0],
        "gap": lambda: tokens.mean(axis=1),
        "none": lambda: np.concatenate([features["prefix"], tokens], axis=1),
        "map": lambda: model.get_layer("pool")(tokens),
        "gap_then_norm": lambda: pooled,
        "token_and_mean": lambda: np.concatenate(
            [ops.convert_to_numpy(features["prefix"])[:, 0], tokens.mean(axis=1)], axis=-1
        ),
    }[pooling]()
    np.testing.assert_allclose(pooled, expected, atol=1e-6)


def test_the_head_stands_on_the_pooled_features():
    model = small(pooling="gap")
    model.get_layer("head").kernel.assign(np.random.default_rng(1).normal(size=(14, 7)))
    pooled = model.features(IMAGES)["pooled"]
    np.testing.assert_allclose(model.get_layer("head")(pooled), model(IMAGES), atol=1e-6)


def test_features_in_training():
    model = small(dropout=0.5)
    still = model.features(IMAGES)["pooled"]
    np.testing.assert_array_equal(still, model.features(IMAGES, training=False)["pooled"])
    assert not np.allclose(still, model.features(IMAGES, training=True)["pooled"])


def test_blocks_are_reached_by_name():
    model = small(depth=3)
    names = ["patches", "patch_encoder", "block_0", "block_1", "block_2", "norm", "pool", "head"]
    assert [layer.name for layer in model.layers][1:] == names
    taps = keras.Model(model.input, [model.get_layer(f"block_{i}").output for i in range(3)])
    outputs = taps(IMAGES)
    assert [tuple(output.shape) for output in outputs] == [(2, 16, 14)] * 3
    again = model.get_layer("block_2")(outputs[1])
    np.testing.assert_allclose(again, outputs[2], atol=1e-6)


def test_output_without_a_head():
    model = small(num_classes=0, representation_size=13)
    assert model.output_shape == (None, 13)
    assert small(num_classes=0).output_shape == (None, 14)
    assert small(num_classes=0, pooling="none").output_shape == (None, 16, 14)


def test_a_new_head_starts_undecided():
    np.testing.assert_array_equal(small()(IMAGES), np.zeros((2, 7)))
    np.testing.assert_allclose(small(head_bias=-6.9)(IMAGES), np.full((2, 7), -6.9), rtol=1e-6)


def test_drop_path_rises_over_the_blocks():
    model = small(depth=3, drop_path=0.2)
    rates = [model.get_layer(f"block_{i}").drop_path.rate for i in range(3)]
    assert rates == [0.0, 0.1, 0.2]


def test_every_field_reaches_the_layers():
    model = small(dropout=0.1, attention_dropout=0.2, layer_scale=0.5, norm_epsilon=1e-5)
    block = model.get_layer("block_0")
    assert model.get_layer("dropout").rate == block.drop.rate == block.mlp.dropout == 0.1
    assert block.attention.dropout == 0.2
    assert block.scale1.initial_value == block.scale2.initial_value == 0.5
    epsilons = {block.norm1.epsilon, block.norm2.epsilon, model.get_layer("norm").epsilon}
    assert epsilons == {1e-5}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"image_size": (7, 15)}, r"`patch_size` must divide `image_size`. Received: .*\(7, 15\)"),
        ({"image_size": None}, "`image_size` must be a positive integer"),
        ({"patch_size": 0}, "`patch_size` must be a positive integer"),
        ({"num_heads": 3}, "`num_heads` must divide `width`. Received: width=14, num_heads=3"),
        (
            {"num_heads": 2.0},
            "`num_heads` must be an integer of at least 1. Received: num_heads=2.0",
        ),
        ({"width": 0}, "`width` must be an integer of at least 1. Received: width=0"),
        ({"registers": -1}, "`registers` must be an integer of at least 0. Received: registers=-1"),
        ({"depth": -1}, "`depth` must be an integer of at least 0"),
        ({"num_classes": -1}, "`num_classes` must be an integer of at least 0"),
        ({"dropout": 2.0}, r"`dropout` must be in \[0, 1\). Received: dropout=2.0"),
        ({"attention_dropout": -0.1}, r"`attention_dropout` must be in \[0, 1\)"),
        ({"drop_path": 1.0}, r"`drop_path` must be in \[0, 1\). Received: drop_path=1.0"),
        ({"activation": "swish"}, "`activation` must be one of .*Received: 'swish'"),
        ({"pooling": "max"}, r"`pooling` must be one of \['gap', .*Received: 'max'"),
        ({"position": "rotary"}, r"`position` must be one of \['learned', .*Received: 'rotary'"),
        ({"class_token": False}, "`pooling` 'token' needs `class_token`"),
        ({"preprocessing": Preprocessing()}, "`preprocessing` must have a mean for each"),
        (
            {"preprocessing": Preprocessing(mean=[0] * 5, std=[1] * 5, class_names="ab")},
            "`preprocessing.class_names` must name each .* num_classes=7, 2 names",
        ),
    ],
)
def test_config_errors(fields, message):
    with pytest.raises(ValueError, match=message):
        ViTConfig(**{**SMALL, **fields})


def test_config_is_a_value():
    config = ViTConfig(**SMALL)
    assert config == ViTConfig(**{**SMALL, "image_size": [6, 15], "patch_size": [2, 3]})
    assert hash(config) == hash(dataclasses.replace(config))
    assert ViTConfig(**{**SMALL, "registers": 2}).num_prefix == 3


def test_default_preprocessing_is_that_of_the_paper():
    given = ViTConfig(**SMALL).preprocessing
    assert given == Preprocessing((6, 15), mean=(0.5,) * 5, std=(0.5,) * 5)


@pytest.mark.parametrize("size", VARIANTS)
@pytest.mark.parametrize("patch", PATCH_SIZES)
def test_variants(size, patch):
    config = variant_config(f"{size}/{patch}", image_size=patch * 2, num_classes=11)
    assert config.patch_size == (patch, patch)
    assert config.num_classes == 11
    assert {name: getattr(config, name) for name in VARIANTS[size]} == VARIANTS[size]


def test_from_variant():
    model = ViT.from_variant("Ti/16", image_size=32, depth=1, num_classes=3, dtype="mixed_float16")
    assert model.config.width == 192
    assert model.output_shape == (None, 3)
    assert model.policy.name == "mixed_float16"


@pytest.mark.parametrize("variant", ["XL/16", "B", "B/", "b/16", "B16", "", "B/16x"])
def test_an_unknown_variant_lists_the_sizes(variant):
    with pytest.raises(ValueError, match="`variant` must be a size .*So400m") as caught:
        ViT.from_variant(variant)
    assert f"Received: {variant!r}" in str(caught.value)
