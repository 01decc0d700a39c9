"""What the audit finds in real files, good and bad."""

from collections import Counter

import pytest
import tensorflow as tf

from keras_vit.export import PROFILES
from keras_vit.export.audit import Audit, audit, complaints


def test_integer_file_holds_integers_only(artefacts):
    found = audit(artefacts["npu"])
    assert found.floats == () and found.dtypes["FLOAT32"] == 0
    assert found.dtypes["UINT8"] == 1  # the pixels
    assert complaints(found, PROFILES["npu"]) == []
    assert found.operators["NEG"] == 0 and found.operators["DEQUANTIZE"] == 0
    assert found.operators["QUANTIZE"] == 1  # uint8 pixels to int8


@pytest.mark.parametrize("profile", ["float32", "cpu", "npu"])
def test_one_convolution_takes_the_patches(artefacts, profile):
    found = audit(artefacts[profile])
    assert found.operators["CONV_2D"] == 1
    # qkv (in integers three), out, fc1, fc2 of two blocks, and the head: none projects patches.
    assert found.operators["FULLY_CONNECTED"] == (6 if profile == "npu" else 4) * 2 + 1
    assert complaints(found, PROFILES["float32"]) == []
    assert found.custom == found.dynamic == ()


@pytest.mark.parametrize("profile", ["float32", "npu"])
def test_no_tensor_has_more_than_four_sides(artefacts, profile):
    from ai_edge_litert.interpreter import Interpreter

    details = Interpreter(str(artefacts[profile])).get_tensor_details()
    assert max(len(tensor["shape"]) for tensor in details) <= 4


def test_float_tensors_are_named(artefacts):
    found = audit(artefacts["float32"])
    assert len(found.floats) == found.dtypes["FLOAT32"] - 2
    (text,) = complaints(found, PROFILES["npu"])
    assert text.startswith("float tensors in an integer file (") and "more)" in text


def test_flex_operators_and_open_shapes_are_found(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec((None, 3), tf.float32)])
    def flex(x):
        return tf.raw_ops.MatrixInverse(input=x[:, None] * tf.eye(3))

    converter = tf.lite.TFLiteConverter.from_concrete_functions([flex.get_concrete_function()])
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.TFLITE_BUILTINS,
        tf.lite.OpsSet.SELECT_TF_OPS,
    ]
    path = tmp_path / "flex.tflite"
    path.write_bytes(converter.convert())
    found = audit(path)
    assert found.custom == ("FlexMatrixInverse",)
    assert found.dynamic
    text = "; ".join(complaints(found, PROFILES["float32"]))
    assert "FlexMatrixInverse" in text and "without a fixed shape" in text


def test_unfrozen_weights_are_found():
    found = Audit(Counter(READ_VARIABLE=2), (), Counter(), (), ())
    assert complaints(found, PROFILES["float32"]) == [
        "weights that are not in the file (READ_VARIABLE)"
    ]


def test_operators_that_a_profile_does_not_take_are_found(artefacts):
    (text,) = complaints(audit(artefacts["npu"]), PROFILES["mcu"])
    assert text == "operators that `mcu` does not take (GELU)"


def test_float_inputs_are_no_integers():
    found = Audit(Counter(), (), Counter(FLOAT32=1, INT8=3), (), ())
    assert complaints(found, PROFILES["npu"]) == ["float tensors in an integer file (FLOAT32)"]
