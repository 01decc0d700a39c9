"""ONNX files that were exported, and files that were not."""

import numpy as np
import onnx
import pytest

from keras_vit import runtime
from keras_vit.runtime.onnx import ONNX
from keras_vit.runtime.predictor import BATCH_SIZE


def test_logits_are_the_models(artefacts):
    predictor = runtime.open(artefacts["onnx"])
    pixels = artefacts.pixels[: BATCH_SIZE + 3]
    expected = runtime.open(artefacts.model).logits(pixels)
    np.testing.assert_allclose(predictor.logits(pixels), expected, rtol=1e-4, atol=1e-4)
    assert predictor.logits(pixels[:0]).shape == (0, 10)
    assert predictor.kind == "onnx" and predictor.class_names[3] == "digit 3"
    assert predictor.preprocessing == artefacts.model.preprocessing
    assert predictor.size_bytes == artefacts["onnx"].stat().st_size


def test_a_damaged_file_is_refused(artefacts, tmp_path):
    content = artefacts["onnx"].read_bytes()
    for name, part in (("short.onnx", content[: len(content) // 2]), ("text.onnx", b"no model")):
        (tmp_path / name).write_bytes(part)
        with pytest.raises(ValueError, match=f"{name} cannot be run by ONNX Runtime"):
            ONNX(tmp_path / name)


def test_a_file_of_another_program_is_refused(artefacts, tmp_path):
    model = onnx.load(artefacts["onnx"])
    del model.metadata_props[:]
    onnx.save(model, tmp_path / "other.onnx")
    with pytest.raises(ValueError, match="was not written by keras_vit"):
        ONNX(tmp_path / "other.onnx")
