from types import SimpleNamespace

import pytest

from keras_vit.models import DINOv2, ViT, ViTConfig
from keras_vit.weights.hub_families import FAMILIES, family_for

SIZES = {
    "image_size": (14, 35),
    "patch_size": (7, 5),
    "channels": 5,
    "width": 12,
    "depth": 2,
    "num_heads": 3,
    "mlp_dim": 37,
    "num_classes": 0,
}
DEIT = {"registers": 1}
DINOV2 = {"image_size": 21, "patch_size": 7, "layer_scale": 0.1}
SWIGLU = {**DINOV2, "mlp": "swiglu", "activation": "silu", "mlp_dim": 24}
CLASSES = {"num_classes": 11}


def config(**fields):
    return ViTConfig(**{**SIZES, **fields})


def backbone(**fields):
    shared = {
        "image_shape": (14, 35, 5),
        "patch_size": (7, 5),
        "num_layers": 2,
        "num_heads": 3,
        "hidden_dim": 12,
        "layer_norm_epsilon": 1e-5,
        "attention_dropout": 0.0,
        "dropout_rate": 0.0,
        "use_mha_bias": True,
        "data_format": "channels_last",
    }
    return SimpleNamespace(**{**shared, **fields})


def vit(**fields):
    own = {
        "mlp_dim": 37,
        "use_class_token": True,
        "use_mlp_bias": True,
        "use_patch_bias": True,
    }
    return backbone(**{**own, **fields})


def deit(**fields):
    return backbone(**{"intermediate_dim": 37, **fields})


def dinov2(data_format="channels_last", **fields):
    own = {
        "image_shape": (21, 21, 5),
        "patch_size": 7,
        "intermediate_dim": 37,
        "layer_scale_init_value": 0.1,
        "num_register_tokens": 0,
        "use_swiglu_ffn": False,
        "drop_path_rate": 0.0,
        "embeddings": SimpleNamespace(data_format=data_format),
    }
    return backbone(**{**own, **fields})


@pytest.mark.parametrize(
    "fields, name",
    [
        ({}, "vit"),
        (DEIT, "deit"),
        (DINOV2, "dinov2"),
        ({**DINOV2, "registers": 1}, "dinov2"),
    ],
)
def test_the_family_follows_from_layer_scale_and_registers(fields, name):
    assert family_for(config(**fields)) is FAMILIES[name]


def test_the_classes():
    assert FAMILIES["vit"].model_class is ViT
    assert FAMILIES["deit"].model_class is ViT
    assert FAMILIES["dinov2"].model_class is DINOv2
    assert FAMILIES["dinov2"].classifier is None


def test_fields_of_a_vit():
    found = FAMILIES["vit"].fields(
        vit(dropout_rate=0.1, attention_dropout=0.2, use_class_token=False)
    )
    assert ViTConfig(**found, num_classes=0, pooling="none") == config(
        norm_epsilon=1e-5, dropout=0.1, attention_dropout=0.2, class_token=False, pooling="none"
    )


def test_fields_of_a_deit():
    found = FAMILIES["deit"].fields(deit(attention_dropout=0.2))
    assert ViTConfig(**found, num_classes=0) == config(
        norm_epsilon=1e-5, attention_dropout=0.2, registers=1
    )


def test_fields_of_a_dinov2():
    found = FAMILIES["dinov2"].fields(dinov2(num_register_tokens=4))
    assert ViTConfig(**found, num_classes=0) == config(**DINOV2, registers=4)


@pytest.mark.parametrize("theirs, ours", [(6144, 4096), (37, 24), (12, 8), (13, 8)])
def test_the_width_of_swiglu(theirs, ours):
    found = FAMILIES["dinov2"].fields(dinov2(use_swiglu_ffn=True, intermediate_dim=theirs))
    assert (found["mlp_dim"], found["mlp"], found["activation"]) == (ours, "swiglu", "silu")


@pytest.mark.parametrize("width", [8, 24, 4096])
def test_the_width_of_swiglu_comes_back(width):
    arguments = FAMILIES["dinov2"].arguments(config(**{**SWIGLU, "mlp_dim": width}))
    found = FAMILIES["dinov2"].fields(
        dinov2(use_swiglu_ffn=True, intermediate_dim=arguments["intermediate_dim"])
    )
    assert found["mlp_dim"] == width


@pytest.mark.parametrize(
    "name, theirs, words",
    [
        ("vit", vit(), []),
        ("vit", vit(use_mha_bias=False), ["use_mha_bias"]),
        ("vit", vit(use_mlp_bias=False, use_patch_bias=False), ["use_mlp_bias", "use_patch_bias"]),
        ("vit", vit(data_format="channels_first"), ["data_format"]),
        ("deit", deit(), []),
        ("deit", deit(dropout_rate=0.1, use_mha_bias=False), ["use_mha_bias", "dropout_rate"]),
        ("dinov2", dinov2(), []),
        (
            "dinov2",
            dinov2(dropout_rate=0.1, drop_path_rate=0.2),
            ["dropout_rate", "drop_path_rate"],
        ),
        ("dinov2", dinov2("channels_first"), ["data_format"]),
    ],
)
def test_what_our_models_cannot_compute(name, theirs, words):
    assert list(FAMILIES[name].lost_from(theirs)) == words


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"dropout": 0.1, "attention_dropout": 0.2}, []),
        ({"class_position": False}, []),
        ({"activation": "gelu_tanh", "drop_path": 0.1}, ["activation", "drop_path"]),
        ({"mlp": "swiglu"}, ["mlp"]),
        ({"pooling": "gap"}, []),
        ({"pooling": "gap", **CLASSES}, ["pooling"]),
        ({"pooling": "token", **CLASSES}, []),
        ({"pooling": "gap", "class_token": False, **CLASSES}, []),
        ({"pooling": "none", "class_token": False, **CLASSES}, ["pooling"]),
        ({**DEIT, **CLASSES, "attention_dropout": 0.2}, []),
        ({**DEIT, **CLASSES, "pooling": "gap"}, ["pooling"]),
        ({**DEIT, "dropout": 0.1, "drop_path": 0.1}, ["drop_path", "dropout"]),
        ({"registers": 2, "representation_size": 13}, ["registers", "representation_size"]),
        ({**DEIT, "class_token": False, "pooling": "gap"}, ["class_token"]),
        (DINOV2, []),
        ({**DINOV2, **CLASSES}, ["num_classes"]),
        ({**DINOV2, "image_size": (14, 21)}, ["image_size"]),
        ({**DINOV2, "image_size": 35, "patch_size": (7, 5)}, ["patch_size"]),
        ({**DINOV2, "norm_epsilon": 1e-5}, ["norm_epsilon"]),
        ({**DINOV2, "activation": "silu"}, ["activation"]),
        (SWIGLU, []),
        ({**SWIGLU, "activation": "gelu", "mlp_dim": 20}, ["activation", "mlp_dim"]),
        ({**DINOV2, "class_token": False, "pooling": "gap"}, ["class_token"]),
        ({**DINOV2, "representation_size": 13}, ["representation_size"]),
        (
            {**DINOV2, "attention_dropout": 0.1, "drop_path": 0.1},
            ["attention_dropout", "drop_path"],
        ),
    ],
)
def test_what_kerashubs_models_cannot_compute(fields, words):
    ours = config(**fields)
    assert list(family_for(ours).lost_to(ours)) == words


def test_arguments_of_a_vit():
    ours = config(dropout=0.1, attention_dropout=0.2, norm_epsilon=1e-5, class_token=False,
                  pooling="gap")  # fmt: skip
    assert FAMILIES["vit"].arguments(ours) == {
        "image_shape": (14, 35, 5),
        "patch_size": (7, 5),
        "num_layers": 2,
        "num_heads": 3,
        "hidden_dim": 12,
        "mlp_dim": 37,
        "layer_norm_epsilon": 1e-5,
        "dropout_rate": 0.1,
        "attention_dropout": 0.2,
        "use_class_token": False,
    }


def test_arguments_of_a_dinov2():
    assert FAMILIES["dinov2"].arguments(config(**DINOV2, registers=4)) == {
        "image_shape": (21, 21, 5),
        "position_embedding_shape": (21, 21, 5),
        "patch_size": 7,
        "num_layers": 2,
        "num_heads": 3,
        "hidden_dim": 12,
        "intermediate_dim": 37,
        "layer_scale_init_value": 0.1,
        "num_register_tokens": 4,
        "use_mask_token": False,
        "use_swiglu_ffn": False,
    }


@pytest.mark.parametrize("name, rows", [("vit", 1), ("deit", 2), ("dinov2", 1)])
def test_rows_of_the_position_table(name, rows):
    assert FAMILIES[name].position_rows(config()) == rows
    if name == "vit":
        assert FAMILIES[name].position_rows(config(class_token=False, pooling="gap")) == 0
