"""SavedModels that were exported, and folders that were not."""

import shutil

import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.runtime.predictor import BATCH_SIZE
from keras_vit.runtime.saved_model import SavedModel


@pytest.fixture
def folder(artefacts, tmp_path):
    shutil.copytree(artefacts["server"], tmp_path / "model")
    return tmp_path / "model"


def test_logits_are_the_models(artefacts):
    predictor = SavedModel(artefacts["server"])
    pixels = artefacts.pixels[: BATCH_SIZE + 3]
    expected = runtime.open(artefacts.model).logits(pixels)
    np.testing.assert_allclose(predictor.logits(pixels), expected, rtol=1e-4, atol=1e-4)
    assert predictor.logits(pixels[:0]).shape == (0, 10)
    assert predictor.kind == "saved_model"
    assert predictor.preprocessing == artefacts.model.preprocessing


def test_its_size_is_that_of_all_its_files(artefacts):
    path = artefacts["server"]
    assert SavedModel(path).size_bytes > (path / "saved_model.pb").stat().st_size


def test_a_folder_without_description_is_refused(folder):
    (folder / "assets" / "preprocessing.json").unlink()
    with pytest.raises(ValueError, match="was not written by keras_vit"):
        SavedModel(folder)


def test_a_damaged_folder_is_refused(folder):
    graph = (folder / "saved_model.pb").read_bytes()
    (folder / "saved_model.pb").write_bytes(graph[: len(graph) // 2])
    with pytest.raises(ValueError, match="cannot be loaded as a SavedModel"):
        SavedModel(folder)
    (folder / "saved_model.pb").write_bytes(graph)
    shutil.rmtree(folder / "variables")
    with pytest.raises(ValueError, match="cannot be loaded as a SavedModel"):
        SavedModel(folder)
