"""TFLite files: scaling of integers, errors, and what is missing."""

import sys

import numpy as np
import pytest

from keras_vit.runtime.embedded import embed
from keras_vit.runtime.tflite import TFLite, dequantised, quantised


def details(dtype, scale, zero):
    return {"dtype": dtype, "quantization": (scale, zero)}


def test_integers_are_scaled():
    pixels = np.array([0.0, 0.4, 0.6, 254.6, 255.0])
    bytes_in = quantised(pixels, details(np.uint8, 1.0, 0))
    assert bytes_in.dtype == np.uint8 and bytes_in.tolist() == [0, 0, 1, 255, 255]
    assert quantised(pixels, details(np.int8, 0.5, -3)).tolist() == [-3, -2, -2, 127, 127]
    out = dequantised(np.array([-128, 127], "int8"), details(np.int8, 0.5, 4))
    assert out.dtype == np.float32 and out.tolist() == [-66, 61.5]


def test_floats_are_left():
    values = np.array([0.25, 7])
    assert quantised(values, details(np.float32, 0.0, 0)).tolist() == [0.25, 7]
    assert dequantised(values, details(np.float32, 0.0, 0)).dtype == np.float32


@pytest.mark.parametrize("profile", ["float32", "cpu", "npu"])
def test_every_image_is_run(artefacts, profile):
    predictor = TFLite(artefacts[profile], threads=1)
    pixels = artefacts.pixels[:3]
    logits = predictor.logits(pixels)
    assert logits.shape == (3, 10) and logits.dtype == np.float32
    np.testing.assert_array_equal(predictor.logits(pixels[2:]), logits[2:])
    np.testing.assert_array_equal(predictor.logits(pixels.astype("float32")), logits)
    assert predictor.logits(pixels[:0]).shape == (0, 10)
    assert predictor.size_bytes == artefacts[profile].stat().st_size
    assert predictor.class_names == artefacts.model.preprocessing.class_names


def test_a_file_cut_short_is_refused(artefacts, tmp_path):
    content = artefacts["float32"].read_bytes()
    (tmp_path / "short.tflite").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="short.tflite.*cut short"):
        TFLite(tmp_path / "short.tflite")


def test_a_file_that_litert_cannot_run_is_refused(artefacts, tmp_path):
    path = tmp_path / "text.tflite"
    path.write_text("no flatbuffer at all")
    embed(path, artefacts.model.preprocessing)
    with pytest.raises(ValueError, match="text.tflite cannot be run by LiteRT"):
        TFLite(path)


def test_the_missing_runtime_names_its_extra(artefacts, monkeypatch):
    path = artefacts["float32"]
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(ImportError, match=r"keras-vit-kit\[edge\]"):
        TFLite(path)
