"""From a name or a path to a filled model."""

import os
import shutil
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.weights import CatalogEntry, load
from keras_vit.weights.load import find
from tests.oracles import jax_vit_numpy as oracle

FIXTURES = Path(__file__).parents[1] / "fixtures" / "weights"
NAME = "vit_micro_augreg"


def build(**fields):
    sizes = {**oracle.SIZES, "image_size": 20, "patch_size": 4, "num_classes": 7}
    return create_model("vit_ti16", **{**sizes, "activation": "gelu_tanh", **fields})


def jax_file(path, **options):
    arrays = oracle.checkpoint(np.random.default_rng(2), **options)
    np.savez(path, **arrays)
    return arrays


def outputs(model, images):
    return keras.ops.convert_to_numpy(model(images.astype(model.dtype), training=False))


def assert_same(model, arrays, size=(20, 20), **call):
    images = np.random.default_rng(4).standard_normal((2, *size, 3)).astype("float32")
    expected = oracle.forward(arrays, images, **call)
    found = outputs(model, images)
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.fixture
def published(monkeypatch, tmp_path):
    """A row of the catalogue for a micro-checkpoint, downloaded by copying; and its arrays."""
    arrays, downloads = jax_file(tmp_path / "remote.npz", grid=(3, 9)), []
    row = CatalogEntry(
        name=NAME,
        model="vit_ti16",
        source="jax",
        url="https://example.org/Ti_16.npz",
        image_size=(12, 36),
        num_classes=7,
        preprocessing={"resize": "crop", "crop": 0.7},
        sha256="abc",
        licence="Apache-2.0",
        top1=None,
        note="",
        citation="",
    )

    def download(url, file, sha256):
        downloads.append((url, file, sha256))
        return shutil.copy(tmp_path / "remote.npz", tmp_path / file)

    module = sys.modules["keras_vit.weights.load"]  # the package's `load` is the function
    monkeypatch.setattr(module, "catalog_entry", {NAME: row}.__getitem__)
    monkeypatch.setattr(module, "download", download)
    return arrays, downloads


def test_a_name_is_downloaded_and_read_as_the_catalogue_says(published):
    arrays, downloads = published
    preprocessing = {"resize": "crop", "crop": 0.7}
    model = build(image_size=(12, 36), preprocessing=preprocessing)
    report = load(model, NAME)
    assert downloads == [("https://example.org/Ti_16.npz", f"{NAME}.npz", "abc")]
    assert report.source == "jax"
    assert_same(model, arrays, (12, 36), grid=(3, 9))
    # The catalogue's image size told the table's grid, and its preprocessing is a convention.
    other = build(preprocessing=preprocessing)
    note = load(other, NAME).filled["patch_encoder/position"][2]
    assert note == "resized from 3×9 to 5×5 (jax)"
    with pytest.raises(ValueError, match="'resize': 'crop', 'crop': 0.7") as raised:
        load(build(), NAME)
    assert f"create_model('vit_ti8', weights='{NAME}', " in str(raised.value)
    built = create_model("vit_ti16", weights=NAME, **oracle.SIZES)
    assert built.config.preprocessing == model.config.preprocessing
    assert_same(built, arrays, (12, 36), grid=(3, 9))


def test_a_format_that_is_not_the_catalogues(published):
    assert find(NAME, type(build())).source_name == "jax"
    assert find(NAME, type(build()), "jax").source_name == "jax"
    with pytest.raises(ValueError, match=f"{NAME} is of the format 'jax'. Received: 'big_vision'"):
        find(NAME, type(build()), "big_vision")


def test_an_address_is_no_path():
    with pytest.raises(ValueError, match="`weights` must be a published name, .*Download it first"):
        load(build(), "https://example.org/w.npz")


def test_a_name_that_is_not_published_is_no_path():
    with pytest.raises(ValueError, match="no published weights 'vit_ti16_augrag_i21k'.*Close"):
        load(build(), "vit_ti16_augrag_i21k")


@pytest.mark.parametrize("kind", ["Path", "text", "bare", "folder"])
def test_paths_in_each_spelling(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if kind == "folder":  # no dot and no slash in its name, but it is there
        shutil.copytree(FIXTURES / "timm_token", tmp_path / "mine")
        pictures = {"resize": "crop", "crop": 0.9, "interpolation": "bicubic"}
        model = build(activation="gelu", mlp_dim=48, preprocessing=pictures)
        assert load(model, "mine", "timm").source == "timm"
        expected = np.load(FIXTURES / "timm_token" / "expected.npz")
        found = outputs(model, expected["images_20x20"])
        theirs = expected["outputs_20x20"]
        assert np.abs(found - theirs).max() < 1e-5 * np.abs(theirs).max()
        return
    arrays = jax_file(tmp_path / "w.npz")
    path = {"Path": Path("w.npz"), "text": os.path.join(tmp_path, "w.npz"), "bare": "w.npz"}[kind]
    model = build()
    report = load(model, path, "jax")
    assert report.origin.endswith("w.npz")
    assert_same(model, arrays)


@pytest.mark.parametrize("path", ["lost.npz", "./lost", Path("lost")])
def test_a_path_without_a_file(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no file lost"):
        load(build(), path, "jax")


def test_a_file_that_tells_its_format_needs_none():
    pictures = {"mean": (0.5,) * 3, "interpolation": "bilinear"}
    model = build(activation="gelu", norm_epsilon=1e-12, preprocessing=pictures)
    report = load(model, FIXTURES / "hf_vit")
    assert report.source == "hf_vit"
    expected = np.load(FIXTURES / "hf_vit" / "expected.npz")
    found = outputs(model, expected["images_20x20"])
    theirs = expected["outputs_20x20"]
    assert np.abs(found - theirs).max() < 1e-5 * np.abs(theirs).max()


def test_a_file_that_does_not_tell_lists_the_formats_of_its_kind(tmp_path):
    jax_file(tmp_path / "w.npz")
    told = "does not say what it is.*State its format .*, one of: jax, big_vision."
    with pytest.raises(ValueError, match=told):
        load(build(), tmp_path / "w.npz")
    with pytest.raises(ValueError, match=told):
        create_model("vit_ti16", weights=tmp_path / "w.npz")


def test_a_rectangular_table_is_that_of_the_model_or_of_the_size_that_is_told(tmp_path):
    arrays = jax_file(tmp_path / "w.npz", grid=(3, 9))
    model = build(image_size=(12, 36))
    report = load(model, tmp_path / "w.npz", "jax")
    assert report.filled["patch_encoder/position"][2] == ""
    assert_same(model, arrays, (12, 36), grid=(3, 9))
    other = build()
    with pytest.raises(ValueError, match="28 positions are no square grid.*State the size"):
        load(other, tmp_path / "w.npz", "jax")
    load(other, tmp_path / "w.npz", "jax", image_size=(12, 36))
    assert_same(other, arrays, grid=(3, 9))


def test_only_models_of_this_package_are_filled(tmp_path):
    jax_file(tmp_path / "w.npz")
    with pytest.raises(ValueError, match="must be a model of this package. Received: .*Sequential"):
        load(keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]), tmp_path / "w.npz")


def test_the_report_reads_as_a_table(tmp_path):
    jax_file(tmp_path / "w.npz", classes=5)
    text = str(load(build(image_size=28), tmp_path / "w.npz", "jax", new_head=True))
    assert text.splitlines()[0] == f"{tmp_path / 'w.npz'} (jax)"
    assert "resized from 5×5 to 7×7 (jax)" in text
    assert "The head is new: 7 classes, where the file has 5." in text
    assert "not used: this model was asked to do without it" in text
