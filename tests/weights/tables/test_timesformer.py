import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from keras import ops

from keras_vit import create_model, weights
from keras_vit.models import TimeSformer, TimeSformerConfig
from keras_vit.models.timesformer import SPACE_TIME
from keras_vit.weights.archives import Archive, open_archive
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.tables.timesformer import TABLE
from tests.contract.test_contract import randomised
from tests.models.test_families_parity import FIXTURES
from tests.references.families_cases import OUR_TIMESFORMER

READER = Path(__file__).parents[2] / "references" / "read_clips.py"
CONFIGS = {
    space_time: TimeSformerConfig(
        **OUR_TIMESFORMER, space_time=space_time, image_size=12, num_classes=7
    )
    for space_time in SPACE_TIME
}
SIZES = {
    **{name: value for name, value in OUR_TIMESFORMER.items() if name != "frames"},
    "image_size": 12,
    "num_classes": 7,
}


def file(space_time):
    return FIXTURES / f"timesformer_{space_time}" / "model.safetensors"


@pytest.mark.parametrize("space_time", SPACE_TIME)
def test_the_file_holds_just_these_names(space_time):
    archive, config = TABLE.canonical(open_archive(file(space_time))), CONFIGS[space_time]
    found = [entry.found_in(archive) for entry in TABLE.entries(config)]
    assert {name for option in found for name in option[0]} == set(archive.shapes)
    paths = {weight.path for weight in TimeSformer(config).weights if "seed" not in weight.path}
    assert {entry.ours for entry in TABLE.entries(config)} == paths


@pytest.mark.parametrize("space_time", SPACE_TIME)
def test_facts_are_read_off_the_shapes(space_time):
    facts = TABLE.facts(TABLE.canonical(open_archive(file(space_time))))
    assert facts["space_time"] == space_time
    assert facts.get("frames") == (None if space_time == "space_only" else 3)
    assert (facts["width"], facts["depth"], facts["mlp_dim"]) == (12, 2, 18)
    fields = open_checkpoint(file(space_time), TimeSformer, "hf_timesformer").fields
    config = TimeSformerConfig(**{**fields, "num_heads": 3})
    assert config.preprocessing.mean == (0.45,) * 3 and config.preprocessing.crop == 1.0


@pytest.mark.parametrize("prefix", ["", "model.", "module.model."])
def test_the_authors_names_are_transformers_names(prefix):
    """Their `.pyth` files hold the module as `model`; written are transformers' names."""
    canonical = TABLE.canonical(open_archive(file("divided")))
    theirs = {prefix + name: shape for name, shape in canonical.shapes.items()}
    archive = Archive("file.pyth", theirs, canonical.read)
    assert TABLE.canonical(archive).shapes == canonical.shapes
    written = {TABLE.written(CONFIGS["divided"], name) for name in canonical.shapes}
    assert written == set(open_archive(file("divided")).shapes)


def test_other_frames_and_sizes():
    model = create_model(
        "timesformer_b16",
        weights=file("divided"),
        weights_format="hf_timesformer",
        **{**SIZES, "image_size": (8, 20), "frames": 5},
    )
    with np.load(FIXTURES / "timesformer_divided" / "expected.npz") as arrays:
        assert arrays["logits_12x12"].shape == (2, 7)
    time = open_archive(file("divided")).read("timesformer.embeddings.time_embeddings")
    np.testing.assert_array_equal(
        model.get_layer("patch_encoder").time, time[:, [0, 0, 1, 1, 2]].astype("float32")
    )
    remarks = " ".join(model.weights_report.remarks)
    assert "resized from 3 to 5 frames (nearest)" in remarks
    again = weights.adapted(model, frames=3)
    assert again.input_shape == (None, 3, 8, 20, 3)


def saved(space_time, folder):
    model = randomised(create_model("timesformer_b16", **SIZES, frames=3, space_time=space_time))
    weights.save(model, folder, "hf")
    return model


@pytest.mark.parametrize("space_time", ["divided", "joint"])
def test_the_way_back(space_time, tmp_path):
    model = saved(space_time, tmp_path / "model")
    sizes = {name: value for name, value in SIZES.items() if name != "num_classes"}
    again = create_model("timesformer_b16", weights=tmp_path / "model", **sizes)
    assert again.config == model.config
    for one, other in zip(model.weights, again.weights, strict=True):
        assert one.path == other.path
        if not re.search("seed", one.path):
            np.testing.assert_array_equal(one, other)


@pytest.mark.prove
def test_transformers_computes_the_same(tmp_path):
    clips = np.random.default_rng(3).normal(size=(2, 3, 12, 12, 3)).astype("float32")
    np.save(tmp_path / "clips.npy", clips)
    made = {kind: saved(kind, tmp_path / kind) for kind in ("divided", "joint")}
    folders = [tmp_path / kind for kind in made]
    subprocess.run([sys.executable, READER, tmp_path / "clips.npy", *folders], check=True)
    for kind, model in made.items():
        theirs = np.load(tmp_path / kind / "outputs.npy")
        ours = ops.convert_to_numpy(model(clips))
        assert np.abs(ours - theirs).max() <= 1e-5 * np.abs(theirs).max(), kind


@pytest.mark.parametrize(
    ("fields", "format", "reason"),
    [
        ({}, "timm", "A TimeSformer is written in the format 'hf' only. Received: 'timm'"),
        ({"space_time": "space_only"}, "hf", "space_time: transformers' takes no mean over time"),
        ({"pooling": "gap"}, "hf", "pooling: transformers' pools by the class token"),
    ],
)
def test_what_cannot_be_written(fields, format, reason, tmp_path):
    model = create_model("timesformer_b16", **SIZES, frames=3, **fields)
    with pytest.raises(ValueError, match=reason):
        weights.save(model, tmp_path / "model", format)
