"""timm's names, and the few words in which DeiT-III, DINOv2 and MAE differ.

That files with these names give timm's own outputs is in `tests/weights/test_reference_files.py`.
"""

from pathlib import Path

import pytest

from keras_vit.models import DeiT, ViT, ViTConfig
from keras_vit.weights.archives import Archive
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.tables.vit_timm import DISTILLED, TABLE
from tests.references.weights_cases import CASES

FIXTURES = Path(__file__).parents[2] / "fixtures" / "weights"
TIMM = [name for name, case in CASES.items() if case["package"] == "timm"]
TINY = {"image_size": 20, "patch_size": 4, "width": 24, "depth": 1, "num_heads": 3, "mlp_dim": 43}


def names(table, config):
    return {name for entry in table.entries(config) for name in entry.options[0][0]}


def both(*layers):
    return {f"{layer}.{kind}" for layer in layers for kind in ("weight", "bias")}


BLOCK = both(
    *(f"blocks.0.{layer}" for layer in ("norm1", "attn.qkv", "attn.proj", "norm2")),
    *(f"blocks.0.mlp.{layer}" for layer in ("fc1", "fc2")),
)
STEM = {"cls_token", "pos_embed", *both("patch_embed.proj")}
POOL = {"attn_pool.latent"} | both(
    *(f"attn_pool.{layer}" for layer in ("q", "kv", "proj", "norm", "mlp.fc1", "mlp.fc2"))
)


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({}, STEM | BLOCK | both("norm", "head")),
        ({"num_classes": 0}, STEM | BLOCK | both("norm")),
        ({"pooling": "gap_then_norm"}, STEM | BLOCK | both("fc_norm", "head")),
        (
            {"pooling": "map", "class_token": False},
            (STEM - {"cls_token"}) | BLOCK | both("norm", "head") | POOL,
        ),
        ({"registers": 3}, STEM | BLOCK | both("norm", "head") | {"reg_token"}),
        (
            {"layer_scale": 1e-5, "position": "none"},
            (STEM - {"pos_embed"})
            | BLOCK
            | both("norm", "head")
            | {"blocks.0.ls1.gamma", "blocks.0.ls2.gamma"},
        ),
    ],
)
def test_names_of_each_kind_of_model(fields, expected):
    assert names(TABLE, ViTConfig(**TINY, **fields)) == expected


def test_names_of_a_distilled_deit():
    config = ViTConfig(**TINY, registers=1, class_position=False)
    expected = STEM | BLOCK | both("norm", "head", "head_dist") | {"dist_token"}
    assert names(DISTILLED, config) == expected


@pytest.mark.parametrize("name", TIMM)
def test_the_files_hold_just_these_names(name):
    case = CASES[name]
    suffix = "w.pth" if "pth" in case["file"] else "model.safetensors"
    model_class = {"ViT": ViT, "DeiT": DeiT}[case["model"]]
    checkpoint = open_checkpoint(FIXTURES / name / suffix, model_class, case["format"])
    config = ViTConfig(**{"num_heads": 3, **checkpoint.fields})
    held = set(checkpoint.archive.shapes)
    unused = {name for name in held if checkpoint.table.reason_unused(name)}
    found = [entry.found_in(checkpoint.archive) for entry in checkpoint.table.entries(config)]
    assert {name for option in found for name in option[0]} == held - unused
    assert (len(unused) > 0) == (name == "mae_pth")


def test_other_spellings_are_translated():
    spelled = {
        "module.register_tokens": "reg_token",
        "module.blocks.3.gamma_1": "blocks.3.ls1.gamma",
        "module.blocks.30.gamma_2": "blocks.30.ls2.gamma",
        "module.blocks.0.mlp.w12.weight": "blocks.0.mlp.fc1.weight",
        "module.blocks.0.mlp.w3.bias": "blocks.0.mlp.fc2.bias",
        "module.blocks.0.mlp.w3x": "blocks.0.mlp.w3x",
        "module.cls_token": "cls_token",
    }
    archive = Archive("file", dict.fromkeys(spelled, (2,)), spelled.__getitem__)
    found = TABLE.canonical(archive)
    assert set(found.shapes) == set(spelled.values())
    assert {found.read(name) for name in found.shapes} == set(spelled.values())


def test_facts_are_read_off_the_shapes():
    shapes = {
        "patch_embed.proj.weight": (24, 5, 4, 6),
        "cls_token": (1, 1, 24),
        "reg_token": (1, 3, 24),
        "pos_embed": (1, 29, 24),
        "blocks.0.mlp.fc1.weight": (86, 24),
        "blocks.0.mlp.fc2.weight": (24, 43),
        "blocks.0.ls1.gamma": (24,),
        "blocks.2.norm1.weight": (24,),
        "head.weight": (7, 24),
    }
    facts = TABLE.facts(Archive("file", shapes, None))
    assert facts == {
        "width": 24,
        "channels": 5,
        "patch_size": (4, 6),
        "depth": 3,
        "mlp_dim": 43,
        "mlp": "swiglu",
        "class_token": True,
        "registers": 3,
        "distilled": False,
        "position_rows": 29,
        "layer_scale": True,
        "num_classes": 7,
        "pooling": None,
    }


@pytest.mark.parametrize(
    "present, pooling",
    [
        (("attn_pool.latent",), "map"),
        (("cls_token", "fc_norm.weight"), "gap_then_norm"),
        (("cls_token",), None),
        ((), "gap"),
    ],
)
def test_pooling_as_far_as_arrays_tell(present, pooling):
    shapes = {"patch_embed.proj.weight": (24, 3, 4, 4), **dict.fromkeys(present, (1, 1, 24))}
    facts = TABLE.facts(Archive("file", shapes, None))
    assert (facts["pooling"], facts["num_classes"], facts["mlp"]) == (pooling, 0, "mlp")


def test_a_distillation_token_counts_as_a_register():
    shapes = {"patch_embed.proj.weight": (24, 3, 4, 4), "dist_token": (1, 1, 24)}
    facts = DISTILLED.facts(Archive("file", shapes, None))
    assert (facts["registers"], facts["distilled"]) == (1, True)


@pytest.mark.parametrize(
    "name, reason",
    [
        ("mask_token", "masked patches"),
        ("decoder_blocks.0.norm1.weight", "MAE's decoder"),
        ("decoder_pos_embed", "MAE's decoder"),
        ("head_dist.weight", None),
        ("blocks.0.decoder_x", None),
    ],
)
def test_what_no_model_has_a_place_for(name, reason):
    found = TABLE.reason_unused(name)
    assert (found is None) if reason is None else reason in found
