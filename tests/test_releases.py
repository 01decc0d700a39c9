"""Models that earlier releases saved load, with the same outputs and the same weight paths."""

import json
import runpy
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_vit

FIXTURES = Path(__file__).parent / "fixtures"
RELEASES = sorted(path.name for path in FIXTURES.glob("release_*"))


def load(folder):
    """The stored model, images, logits and paths of a release."""
    model = keras.saving.load_model(folder / "vit.keras")
    paths = json.loads((folder / "paths.json").read_text("utf-8"))
    with np.load(folder / "outputs.npz") as outputs:
        return model, outputs["images"], outputs["logits"], paths


def test_there_is_a_golden_file():
    assert "release_0_1" in RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_a_saved_model_of_a_release_gives_the_same_outputs(release):
    model, images, logits, paths = load(FIXTURES / release)
    assert type(model) is keras_vit.ViT
    assert model.preprocessing.class_names == ("a", "b", "ç")
    assert {weight.path: list(weight.shape) for weight in model.weights} == paths
    ours = keras.ops.convert_to_numpy(model(images))
    assert np.abs(ours - logits).max() <= 1e-5 * np.abs(logits).max()


@pytest.mark.parametrize("release", RELEASES)
def test_a_new_model_takes_the_weights_of_a_release_by_path(release):
    stored, images, logits, paths = load(FIXTURES / release)
    model = keras_vit.ViT(stored.config)
    assert [weight.path for weight in model.weights] == list(paths)
    values = {weight.path: weight for weight in stored.weights}
    for weight in model.weights:
        weight.assign(values[weight.path])
    ours = keras.ops.convert_to_numpy(model(images))
    assert np.abs(ours - logits).max() <= 1e-5 * np.abs(logits).max()


def test_the_script_writes_what_the_tests_read(tmp_path):
    write = runpy.run_path(str(FIXTURES / "make_release.py"))["write"]
    write(tmp_path / "release")
    model, images, logits, _ = load(tmp_path / "release")
    np.testing.assert_array_equal(model(images), logits)
    with pytest.raises(FileExistsError):  # a release is written once
        write(tmp_path / "release")
