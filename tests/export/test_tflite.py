"""TFLite files: bytes that repeat, exact input scale, errors of the converter."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from keras_vit.export import PROFILES, export
from keras_vit.export.audit import audit
from keras_vit.export.tflite import write_tflite
from tests.small_vit import small_vit


def details(path):
    runner = Interpreter(str(path)).get_signature_runner("serving_default")
    return runner.get_input_details()["images"], runner.get_output_details()["logits"]


@pytest.mark.parametrize("profile", ["float32", "cpu"])
def test_float_inputs(artefacts, profile):
    images, logits = details(artefacts[profile])
    assert images["dtype"] == logits["dtype"] == np.float32
    assert images["shape"].tolist() == [1, 16, 16, 1]


def test_a_cameras_bytes_are_the_input(artefacts):
    images, logits = details(artefacts["npu"])
    assert images["dtype"] == np.uint8 and logits["dtype"] == np.int8
    assert images["quantization"] == (1.0, 0)


def test_int8_weights_make_the_file_smaller(artefacts):
    sizes = {name: artefacts[name].stat().st_size for name in ("float32", "cpu", "npu")}
    assert max(sizes["cpu"], sizes["npu"]) < 0.85 * sizes["float32"]  # most of it is no weight


def test_the_same_model_gives_the_same_bytes(artefacts, tmp_path):
    again = export(artefacts.model, "npu", tmp_path / "again.tflite", artefacts.pixels[:200])
    assert again.read_bytes() == artefacts["npu"].read_bytes()


def test_mixed_precision_is_exported_in_float32(tmp_path):
    model = small_vit(dtype="mixed_float16", depth=1)
    images, _ = details(export(model, "float32", tmp_path / "model.tflite"))
    assert images["dtype"] == np.float32


def test_what_tflite_lacks_is_refused(tmp_path, monkeypatch):
    model = small_vit(depth=1)
    inputs = keras.Input(model.input_shape[1:], name="images")
    outputs = keras.layers.Lambda(lambda x: tf.raw_ops.BesselI0e(x=x))(inputs)
    monkeypatch.setattr(
        "keras_vit.export.tflite.rewrite", lambda *given: (keras.Model(inputs, outputs), [])
    )
    with pytest.raises(ValueError, match="vit cannot be converted.*lacks the operators BesselI0e"):
        write_tflite(model, tmp_path / "model.tflite", PROFILES["float32"])
    assert not (tmp_path / "model.tflite").exists()


@pytest.mark.prove
def test_the_products_of_the_mobile_profile_are_integers(artefacts):
    found = audit(artefacts["mobile"])
    assert found.operators["QUANTIZE"] == found.operators["DEQUANTIZE"] == 5 * 2  # each product
    images, logits = details(artefacts["mobile"])
    assert images["dtype"] == logits["dtype"] == np.float32
