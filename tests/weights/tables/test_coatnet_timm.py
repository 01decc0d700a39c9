import pytest

from keras_vit.models import CoAtNet, CoAtNetConfig
from keras_vit.weights.archives import open_archive
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.tables.coatnet_timm import TABLE
from tests.models.test_families_parity import FIXTURES
from tests.references.families_cases import CASES

NAMES = [name for name in CASES if name.startswith("coatnet")]


def config_of(name):
    case = CASES[name]
    return CoAtNetConfig(**case["config"], image_size=case["size"], num_classes=7)


def archive_of(name):
    return TABLE.canonical(open_archive(FIXTURES / name / "model.safetensors"))


@pytest.mark.parametrize("name", NAMES)
def test_the_file_holds_just_these_names(name):
    archive = archive_of(name)
    held = {key for key in archive.shapes if not TABLE.reason_unused(key)}
    assert {key for key in archive.shapes if key not in held} == {
        key for key in archive.shapes if key.endswith("num_batches_tracked")
    }
    found = [entry.found_in(archive) for entry in TABLE.entries(config_of(name))]
    assert {key for option in found for key in option[0]} == held


@pytest.mark.parametrize("name", NAMES)
def test_every_weight_has_its_entry(name):
    config = config_of(name)
    paths = {weight.path for weight in CoAtNet(config).weights}
    assert {entry.ours for entry in TABLE.entries(config)} == paths


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_read_off_the_shapes(name):
    hidden = name == "coatnet"
    assert TABLE.facts(archive_of(name)) == {
        "stem_width": 5,
        "channels": 3,
        "stages": config_of(name).stages,
        "expansion": 4,
        "head_dim": 7,
        "representation_size": 11 if hidden else None,
        "num_classes": 7,
        "pooling": "gap_then_norm" if hidden else "gap",
        # Tables for 2 x 6 tokens are no square and tell nothing.
        "image_size": 64 if hidden else None,
    }


def test_the_config_that_the_file_needs():
    file = FIXTURES / "coatnet" / "model.safetensors"
    fields = open_checkpoint(file, CoAtNet, "timm_coatnet").fields
    config = CoAtNetConfig(**fields)
    assert (config.image_size, config.norm_epsilon) == ((64, 64), 1e-6)
    assert (config.preprocessing.crop, config.preprocessing.mean[0]) == (0.95, 0.5)
