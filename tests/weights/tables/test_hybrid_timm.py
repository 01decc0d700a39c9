import pytest

from keras_vit.models import Hybrid, HybridConfig
from keras_vit.weights.archives import open_archive
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.tables.hybrid_timm import TABLE
from tests.models.test_families_parity import FIXTURES
from tests.references.families_cases import CASES

NAMES = [name for name in CASES if name.startswith("hybrid")]


def config_of(name):
    case = CASES[name]
    return HybridConfig(**case["config"], image_size=case["size"], num_classes=7)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_holds_just_these_names(name):
    archive = TABLE.canonical(open_archive(FIXTURES / name / "model.safetensors"))
    found = [entry.found_in(archive) for entry in TABLE.entries(config_of(name))]
    assert {key for option in found for key in option[0]} == set(archive.shapes)


@pytest.mark.parametrize("name", NAMES)
def test_every_weight_has_its_entry(name):
    paths = {weight.path for weight in Hybrid(config_of(name)).weights}
    assert {entry.ours for entry in TABLE.entries(config_of(name))} == paths


@pytest.mark.parametrize("name", NAMES)
def test_the_config_that_the_file_needs(name):
    file = FIXTURES / name / "model.safetensors"
    fields = open_checkpoint(file, Hybrid, "timm_hybrid").fields
    # Heads are what no array tells.
    assert HybridConfig(**fields, num_heads=3) == HybridConfig(
        **CASES[name]["config"],
        image_size=32,
        num_classes=7,
        preprocessing=fields["preprocessing"],
    )
