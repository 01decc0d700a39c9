"""What timm is told; that it then computes the same is tested in `../test_saving.py`."""

import pytest

from keras_vit.models import ViT, ViTConfig
from keras_vit.weights.targets.timm import target

TINY = {"image_size": (8, 12), "patch_size": 4, "width": 24, "num_heads": 2, "mlp_dim": 43}


def stated(**fields):
    config = ViTConfig(**TINY, **fields)
    return target(ViT(config)).files(config)["config.json"]


def test_every_size_is_stated():
    arguments = stated(layer_scale=0.1, activation="gelu_tanh")["model_args"]
    assert (arguments["img_size"], arguments["patch_size"]) == ([8, 12], [4, 4])
    assert int(24 * arguments["mlp_ratio"]) == 43
    assert (arguments["init_values"], arguments["act_layer"]) == (0.1, "gelu_tanh")


@pytest.mark.parametrize(
    "pooling, theirs, fc_norm",
    [("token", "token", False), ("gap", "avg", False), ("gap_then_norm", "avg", True)],
)
def test_poolings(pooling, theirs, fc_norm):
    config = stated(pooling=pooling)
    assert config["global_pool"] == config["model_args"]["global_pool"] == theirs
    assert config["model_args"]["fc_norm"] == fc_norm


def test_swiglu_has_both_halves_in_one_matrix():
    config = stated(mlp="swiglu", activation="silu")
    assert config["architecture"] == "vit_giant_patch14_dinov2"
    assert int(24 * config["model_args"]["mlp_ratio"]) == 86


@pytest.mark.parametrize(
    "fields, rows",
    [
        ({}, 1),
        ({"registers": 2}, 3),
        ({"registers": 2, "class_position": False}, 0),
        ({"position": "none"}, 0),
    ],
)
def test_rows_for_all_prefix_tokens_or_none(fields, rows):
    assert target(ViT(ViTConfig(**TINY, **fields))).position_rows == rows


def test_preprocessing_and_class_names():
    preprocessing = {"resize": "crop", "crop": 0.9, "class_names": ["a", "b"]}
    config = stated(num_classes=2, preprocessing=preprocessing)
    assert config["label_names"] == ["a", "b"]
    assert config["pretrained_cfg"]["input_size"] == [3, 8, 12]
    assert (config["pretrained_cfg"]["crop_pct"], config["pretrained_cfg"]["crop_mode"]) == (
        0.9,
        "center",
    )
