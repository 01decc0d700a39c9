"""CLIP's names and layouts. That the numbers are right: tests/models/test_clip_parity.py."""

import dataclasses
import pathlib

import numpy as np
import pytest

from keras_vit import create_model, weights
from keras_vit.models import CLIP, CLIPConfig
from keras_vit.weights.archives import open_archive
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.loading import fill
from keras_vit.weights.tables import clip
from tests.references.clip_cases import CASES, CONFIG

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "clip"
TABLES = {"transformers": clip.TRANSFORMERS, "open_clip": clip.OPEN_CLIP}


@pytest.mark.parametrize("name", ["transformers", "open_clip"])
def test_the_shapes_tell_the_sizes(name):
    facts = TABLES[name].facts(open_archive(FIXTURES / name))
    expected = {key: CONFIG[key] for key in CONFIG if "num_heads" not in key}
    assert {key: facts[key] for key in expected} == {**expected, "patch_size": (4, 4)}
    assert facts["position_rows"] == 17 and facts["logit_bias"] is None


@pytest.mark.parametrize("name", TABLES)
def test_every_weight_has_a_name_and_comes_back(name):
    model = CLIP(CLIPConfig(**CONFIG, image_size=16))
    shapes = {weight.path: weight.shape for weight in model.weights}
    entries = TABLES[name].entries(model.config)
    assert {entry.ours for entry in entries} == set(shapes)
    generator = np.random.default_rng(3)
    for entry in entries:
        names, layout = entry.options[0]
        ours = generator.normal(size=shapes[entry.ours])
        theirs = layout.to_theirs(ours)
        assert len(theirs) == len(names)
        back = layout.to_ours(*theirs)
        # A patch kernel keeps its axes until it is fitted.
        np.testing.assert_array_equal(back.reshape(ours.shape), ours)


def test_names_of_a_training_and_of_a_text_module():
    archive = open_archive(FIXTURES / "open_clip")
    renamed = archive.renamed(
        lambda name: name if name.startswith(("visual", "logit")) else f"text.{name}"
    ).renamed(lambda name: f"module.{name}")
    assert set(clip.OPEN_CLIP.canonical(renamed).shapes) == set(archive.shapes)


def test_what_older_files_hold_beside():
    for name in ("input_resolution", "vocab_size", "attn_mask"):
        assert clip.OPEN_CLIP.reason_unused(name)
    for name in ("text_model.embeddings.position_ids", "vision_model.embeddings.position_ids"):
        assert clip.TRANSFORMERS.reason_unused(name)
    assert clip.TRANSFORMERS.reason_unused("text_model.final_layer_norm.weight") is None


def test_a_model_is_built_by_name_with_the_conventions_of_its_weights():
    sizes = {key: value for key, value in CONFIG.items() if key != "patch_size"}
    model = create_model(
        "clip_b32", FIXTURES / "transformers_gelu", **sizes, patch_size=4, image_size=(8, 16)
    )
    assert model.config.activation == "gelu" and model.config.norm_epsilon == 1e-6
    assert "resized from 3×3 to 2×4" in str(model.weights_report)


def test_another_convention_is_refused():
    model = CLIP(CLIPConfig(**CASES["open_clip"]["config"], image_size=16))
    with pytest.raises(weights.ConventionsDiffer) as caught:
        weights.load(model, FIXTURES / "transformers")
    assert set(caught.value.differences) == {"activation"}


def test_another_text_tower_is_refused():
    model = CLIP(CLIPConfig(**{**CONFIG, "context_length": 9}, image_size=16))
    with pytest.raises(weights.ConventionsDiffer, match="context_length: the model has 9"):
        weights.load(model, FIXTURES / "transformers")


def test_a_bias_that_the_file_has_not_is_missed():
    model = CLIP(dataclasses.replace(CLIPConfig(**CONFIG, image_size=16), logit_bias=-10.0))
    checkpoint = open_checkpoint(FIXTURES / "transformers", CLIP)
    with pytest.raises(ValueError, match="the first is bias/logit_bias"):
        fill(model, checkpoint)
