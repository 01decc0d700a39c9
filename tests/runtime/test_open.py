"""One call for every kind of model."""

import numpy as np
import pytest
from PIL import Image

from keras_vit import runtime


@pytest.fixture(scope="module")
def paths(artefacts, tmp_path_factory):
    path = tmp_path_factory.mktemp("kinds") / "model.keras"
    artefacts.model.save(path)
    return {"keras": path, "saved_model": artefacts["server"], "tflite": artefacts["float32"]}


def test_every_kind_gives_the_same_answers(artefacts, paths, tmp_path):
    Image.fromarray(artefacts.pixels[5, ..., 0]).save(tmp_path / "digit.png")
    answers = {}
    for kind, path in paths.items():
        predictor = runtime.open(str(path))
        assert predictor.kind == kind and predictor.path == path
        assert predictor.class_names[3] == "digit 3"
        assert predictor.preprocessing == artefacts.model.preprocessing
        rows = predictor.predict_files([tmp_path / "digit.png"], top=3)
        answers[kind] = predictor.logits(artefacts.pixels[:8]), rows[0]
    reference, best = answers["keras"]
    for logits, rows in answers.values():
        assert np.abs(logits - reference).max() <= 1e-4 * np.abs(reference).max()
        assert [name for name, _ in rows] == [name for name, _ in best]
        np.testing.assert_allclose([p for _, p in rows], [p for _, p in best], rtol=1e-3)


def test_a_model_in_memory(artefacts):
    assert runtime.open(artefacts.model).logits(artefacts.pixels[:2]).shape == (2, 10)


def test_nothing_at_the_path(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model at .*gone.keras"):
        runtime.open(tmp_path / "gone.keras")


def test_what_is_no_model_names_the_kinds(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ValueError, match="no model.*`.keras`.*SavedModel.*`.tflite`"):
            runtime.open(path)
