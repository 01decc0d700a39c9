import numpy as np
import pytest

from keras_vit.models import Swin, SwinConfig
from keras_vit.weights.archives import Archive, open_archive
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.tables.swin_timm import TABLE
from tests.models.test_families_parity import FIXTURES
from tests.references.families_cases import OUR_SWIN

FILE = FIXTURES / "swin" / "model.safetensors"
CONFIG = SwinConfig(**OUR_SWIN, image_size=(32, 64), num_classes=7)


def test_the_file_holds_just_these_names():
    archive = TABLE.canonical(open_archive(FILE))
    found = [entry.found_in(archive) for entry in TABLE.entries(CONFIG)]
    assert {name for option in found for name in option[0]} == set(archive.shapes)


def test_every_weight_has_its_entry():
    paths = {weight.path for weight in Swin(CONFIG).weights}
    assert {entry.ours for entry in TABLE.entries(CONFIG)} == paths


def test_facts_are_read_off_the_shapes():
    assert TABLE.facts(open_archive(FILE)) == {
        "width": 8,
        "channels": 3,
        "patch_size": (2, 2),
        "depths": (2, 2, 2),
        "num_heads": (2, 4, 4),
        "window_size": (4, 4),
        "mlp_ratio": 1.5,
        "num_classes": 7,
    }


def test_the_config_that_the_file_needs():
    fields = open_checkpoint(FILE, Swin, "timm_swin").fields
    config = SwinConfig(**{**fields, "image_size": (32, 64)})
    assert (config.norm_epsilon, config.activation) == (1e-5, "gelu")
    assert (config.preprocessing.crop, config.preprocessing.mean[0]) == (0.9, 0.485)
    assert {name: getattr(config, name) for name in ("depths", "num_heads", "window_size")} == {
        "depths": (2, 2, 2),
        "num_heads": (2, 4, 4),
        "window_size": (4, 4),
    }


def test_the_authors_keep_a_merging_with_the_stage_before_it():
    theirs = {
        "layers.0.downsample.norm.weight": "layers.1.downsample.norm.weight",
        "layers.0.downsample.reduction.weight": "layers.1.downsample.reduction.weight",
        "layers.1.downsample.norm.weight": "layers.2.downsample.norm.weight",
        "layers.1.blocks.0.norm1.bias": "layers.1.blocks.0.norm1.bias",
        "head.weight": "head.fc.weight",
        "head.bias": "head.fc.bias",
    }
    archive = Archive("file", dict.fromkeys(theirs, (2,)), lambda name: np.array(name))
    found = TABLE.canonical(archive)
    assert set(found.shapes) == set(theirs.values())
    for name, canonical in theirs.items():
        assert found.read(canonical) == name


@pytest.mark.parametrize(
    ("name", "unused"),
    [
        ("layers.0.blocks.1.attn.relative_position_index", True),
        ("layers.0.blocks.1.attn_mask", True),
        ("layers.0.blocks.1.attn.relative_position_bias_table", False),
    ],
)
def test_what_is_computed_anew(name, unused):
    assert bool(TABLE.reason_unused(name)) == unused
