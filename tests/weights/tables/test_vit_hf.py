"""transformers' names for ViT, DeiT and DINOv2, as files hold them and as version 5 has them.

That files with these names give transformers' own outputs is in
`tests/weights/test_reference_files.py`.
"""

from pathlib import Path

import pytest

from keras_vit.models import DeiT, ViT, ViTConfig
from keras_vit.weights.archives import Archive
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.tables.vit_hf import DINOV2, DISTILLED, VIT
from tests.references.weights_cases import CASES

FIXTURES = Path(__file__).parents[2] / "fixtures" / "weights"
HF = [name for name, case in CASES.items() if case["package"] == "transformers"]
TINY = {"image_size": 20, "patch_size": 4, "width": 24, "depth": 1, "num_heads": 3, "mlp_dim": 43}
PROJECTION = "embeddings.patch_embeddings.projection"
LAYER = "encoder.layer.0"


def names(table, config):
    return {name for entry in table.entries(config) for name in entry.options[0][0]}


def both(*layers):
    return {f"{layer}.{kind}" for layer in layers for kind in ("weight", "bias")}


STEM = {"embeddings.cls_token", "embeddings.position_embeddings", *both(PROJECTION)}
ATTENTION = both(
    *(f"{LAYER}.attention.attention.{part}" for part in ("query", "key", "value")),
    f"{LAYER}.attention.output.dense",
)
VIT_BLOCK = ATTENTION | both(
    f"{LAYER}.layernorm_before",
    f"{LAYER}.layernorm_after",
    f"{LAYER}.intermediate.dense",
    f"{LAYER}.output.dense",
)
DINOV2_BLOCK = (
    ATTENTION
    | both(f"{LAYER}.norm1", f"{LAYER}.norm2")
    | {f"{LAYER}.layer_scale1.lambda1", f"{LAYER}.layer_scale2.lambda1"}
)
MLP = both(f"{LAYER}.mlp.fc1", f"{LAYER}.mlp.fc2")
SWIGLU = both(f"{LAYER}.mlp.weights_in", f"{LAYER}.mlp.weights_out")
REGISTERS = {"embeddings.register_tokens"}


@pytest.mark.parametrize(
    "table, fields, expected",
    [
        (VIT, {}, STEM | VIT_BLOCK | both("layernorm", "classifier")),
        (VIT, {"num_classes": 0}, STEM | VIT_BLOCK | both("layernorm")),
        (
            DISTILLED,
            {"registers": 1},
            STEM
            | VIT_BLOCK
            | both("layernorm", "cls_classifier", "distillation_classifier")
            | {"embeddings.distillation_token"},
        ),
        (DINOV2, {"layer_scale": 1.0}, STEM | DINOV2_BLOCK | MLP | both("layernorm", "classifier")),
        (
            DINOV2,
            {"layer_scale": 1.0, "registers": 4, "mlp": "swiglu", "num_classes": 0},
            STEM | DINOV2_BLOCK | SWIGLU | both("layernorm") | REGISTERS,
        ),
    ],
)
def test_names_of_each_kind_of_model(table, fields, expected):
    assert names(table, ViTConfig(**TINY, **fields)) == expected


def open_fixture(name):
    folder, case = FIXTURES / name, CASES[name]
    model_class = {"ViT": ViT, "DeiT": DeiT}[case["model"]]
    return open_checkpoint(folder, model_class, case["format"])


@pytest.mark.parametrize("name", HF)
def test_the_files_hold_just_these_names(name):
    checkpoint = open_fixture(name)
    config = ViTConfig(**{"num_heads": 3, **checkpoint.fields})
    held = set(checkpoint.archive.shapes)
    unused = {name for name in held if checkpoint.table.reason_unused(name)}
    found = [entry.found_in(checkpoint.archive) for entry in checkpoint.table.entries(config)]
    assert {name for option in found for name in option[0]} == held - unused


@pytest.mark.parametrize(
    "table, name, canonical",
    [
        (VIT, "vit.layers.11.attention.q_proj.weight", "11.attention.attention.query.weight"),
        (VIT, "vit.layers.11.attention.k_proj.bias", "11.attention.attention.key.bias"),
        (VIT, "vit.layers.11.attention.v_proj.bias", "11.attention.attention.value.bias"),
        (VIT, "deit.layers.3.attention.o_proj.bias", "3.attention.output.dense.bias"),
        (VIT, "layers.3.mlp.fc1.bias", "3.intermediate.dense.bias"),
        (VIT, "encoder.layers.3.mlp.fc2.bias", "3.output.dense.bias"),
        (VIT, "vit.encoder.layer.3.output.dense.bias", "3.output.dense.bias"),
        (DINOV2, "dinov2.encoder.layer.0.mlp.fc1.bias", "0.mlp.fc1.bias"),
        (DINOV2, "dinov2_with_registers.layers.0.mlp.up_proj.bias", "0.mlp.up_proj.bias"),
    ],
)
def test_spellings_of_version_5_become_those_of_the_files(table, name, canonical):
    found = table.canonical(Archive("file", {name: (2,)}, {name: 7}.__getitem__))
    (only,) = found.shapes
    assert only == f"encoder.layer.{canonical}"
    assert found.read(only) == 7


def test_facts_of_a_vit():
    shapes = {
        f"{PROJECTION}.weight": (24, 5, 4, 6),
        "embeddings.position_embeddings": (1, 26, 24),
        f"{LAYER}.intermediate.dense.weight": (43, 24),
        "encoder.layer.2.output.dense.weight": (24, 43),
        "classifier.weight": (7, 24),
    }
    facts = VIT.facts(Archive("file", shapes, None))
    assert facts == {
        "width": 24,
        "channels": 5,
        "patch_size": (4, 6),
        "depth": 3,
        "mlp_dim": 43,
        "mlp": "mlp",
        "class_token": True,
        "distilled": False,
        "registers": 0,
        "position_rows": 26,
        "layer_scale": False,
        "num_classes": 7,
        "pooling": None,
    }


def test_facts_of_each_file():
    def facts(name):
        checkpoint = open_fixture(name)
        return checkpoint.table.facts(checkpoint.archive)

    expected = {"mlp": "mlp", "mlp_dim": 48, "layer_scale": True, "pooling": "token_and_mean"}
    found = facts("hf_dinov2")
    assert found | expected | {"registers": 0, "num_classes": 7} == found
    found = facts("hf_dinov2_registers")
    assert found | expected | {"registers": 3, "num_classes": 7, "position_rows": 26} == found
    for name in ("hf_dinov2_swiglu", "hf_dinov2_in_memory"):
        found = facts(name)
        assert found | {"mlp": "swiglu", "mlp_dim": 32, "num_classes": 0} == found
    found = facts("hf_deit_distilled")
    assert found | {"registers": 1, "distilled": True, "num_classes": 7} == found
    assert found["position_rows"] == 27


@pytest.mark.parametrize(
    "name, reason",
    [
        ("embeddings.mask_token", "masked patches"),
        ("pooler.dense.weight", "pooler"),
        ("pooler.dense.bias", "pooler"),
        ("pooler.weight", None),
        ("classifier.weight", None),
    ],
)
def test_what_no_model_has_a_place_for(name, reason):
    found = VIT.reason_unused(name)
    assert (found is None) if reason is None else reason in found
