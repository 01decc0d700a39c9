"""TF Serving's JSON."""

import base64
import json

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow_serving.apis import input_pb2

from keras_vit.export.server import json_forms
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.signatures import tensor_info


def definition(outputs=(), **inputs):
    return meta_graph_pb2.SignatureDef(
        inputs={name: tensor_info(dtype, None, name) for name, dtype in inputs.items()},
        outputs={name: tensor_info(dtype, None, name) for name, dtype in dict(outputs).items()},
    )


def b64(content):
    return {"b64": base64.b64encode(content).decode()}


ONE = definition(x=tf.float32)
TWO = definition(x=tf.float32, count=tf.int32)
BYTES = definition(image_bytes=tf.string)


def test_rows_of_values():
    inputs, form = json_forms.inputs_of({"instances": [[1, 2], [3.5, 4]]}, ONE)
    assert form == "instances" and inputs["x"].dtype == np.float32
    np.testing.assert_array_equal(inputs["x"], [[1, 2], [3.5, 4]])


def test_rows_of_objects():
    rows = [{"x": [1.5], "count": 2}, {"count": 3, "x": [4]}]
    inputs, _ = json_forms.inputs_of({"instances": rows}, TWO)
    np.testing.assert_array_equal(inputs["x"], [[1.5], [4]])
    assert inputs["count"].tolist() == [2, 3] and inputs["count"].dtype == np.int32


def test_columns():
    for value in ([[1, 2]], {"x": [[1, 2]]}):
        inputs, form = json_forms.inputs_of({"inputs": value}, ONE)
        assert form == "inputs"
        np.testing.assert_array_equal(inputs["x"], [[1, 2]])
    inputs, _ = json_forms.inputs_of({"inputs": {"x": [1.0], "count": [2]}}, TWO)
    assert set(inputs) == {"x", "count"}


@pytest.mark.parametrize(
    "body",
    [
        {"instances": [b64(b"\x00\xff"), b64(b"b")]},
        {"instances": [{"image_bytes": b64(b"\x00\xff")}, {"image_bytes": "b"}]},
        {"inputs": [b64(b"\x00\xff"), "b"]},
        {"inputs": {"image_bytes": [{"b64": "AP8"}, "b"]}},
    ],
)
def test_binary_strings(body):
    inputs, _ = json_forms.inputs_of(body, BYTES)
    assert inputs["image_bytes"].tolist() == [b"\x00\xff", b"b"]


def test_a_scalar_and_a_single_binary_string_as_column():
    assert json_forms.inputs_of({"inputs": 3}, ONE)[0]["x"].shape == ()
    assert json_forms.inputs_of({"inputs": b64(b"a")}, BYTES)[0]["image_bytes"][()] == b"a"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({}, "Expecting one of"),
        ({"instances": [1], "inputs": [1]}, "Expecting one of"),
        ({"instances": []}, "at least one"),
        ({"instances": {"x": 1}}, "must be a list"),
        ({"instances": [{"y": 1}]}, "Keys must be: x"),
        ({"instances": [{"x": 1}, 2]}, "element 1 differs"),
        ({"instances": [1, {"x": 1}]}, "element 1 differs"),
        ({"instances": [[1], [1, 2]]}, "x: "),
        ({"instances": ["1"]}, "values of the type float32"),
        ({"instances": [None]}, "values of the type float32"),
        ({"instances": [True]}, "values of the type float32"),
        ({"instances": [[1, 2], [1, True]]}, "values of the type float32"),
        ({"instances": [[1] * 10_000, "x" * 10**6]}, "values of the type float32"),
        ({"instances": [1e39]}, "beyond float32"),
        ({"instances": [10**400]}, "x: "),
        ({"inputs": {"y": 1}}, "Missing named input: x"),
        ({"inputs": {"x": 1, "y": 1}}, "no input: y"),
        ({"inputs": None}, "values of the type float32"),
        ({"inputs": [b64(b"a")]}, "values of the type float32"),
    ],
)
def test_what_does_not_fit(body, wanted):
    with pytest.raises(Refused, match=wanted) as caught:
        json_forms.inputs_of(body, ONE)
    assert caught.value.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("body", [{"instances": [1]}, {"inputs": [1]}])
def test_several_inputs_need_names(body):
    with pytest.raises(Refused, match="several inputs"):
        json_forms.inputs_of(body, TWO)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 1.5, [1.0]])
def test_whole_numbers(value):
    with pytest.raises(Refused, match="count: "):
        json_forms.inputs_of({"inputs": {"x": 1, "count": value}}, TWO)


@pytest.mark.parametrize("value", [3, {"b64": "?"}, {"b64": 3}, {"b64": "", "x": 1}, [["a"], "a"]])
def test_what_is_no_string(value):
    with pytest.raises(Refused, match="image_bytes: |inputs"):
        json_forms.inputs_of({"inputs": {"image_bytes": [value]}}, BYTES)


def test_infinities_pass_as_in_tf_serving():
    body = json_forms.parsed(b'{"inputs": [NaN, Infinity, -Infinity]}')
    inputs, _ = json_forms.inputs_of(body, ONE)
    np.testing.assert_array_equal(inputs["x"], np.array([np.nan, np.inf, -np.inf], "float32"))


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"],
)
def test_what_is_no_object(body):
    with pytest.raises(Refused):
        json_forms.parsed(body)


def test_the_signature_must_be_a_string():
    with pytest.raises(Refused, match="must be a string"):
        json_forms.parsed(b'{"signature_name": 3}')


def test_answers_as_rows():
    outputs = {"y": np.array([[1, 2.5], [3, 4]], "float32")}
    wanted = definition({"y": tf.float32})
    assert json.loads(json_forms.answer(outputs, wanted, "instances")) == {
        "predictions": [[1, 2.5], [3, 4]]
    }
    outputs["n"] = np.array([7, 8])
    wanted = definition({"y": tf.float32, "n": tf.int64})
    assert json.loads(json_forms.answer(outputs, wanted, "instances")) == {
        "predictions": [{"y": [1, 2.5], "n": 7}, {"y": [3, 4], "n": 8}]
    }


def test_answers_as_columns():
    outputs = {"y": np.array([[1, 2.5]], "float32")}
    wanted = definition({"y": tf.float32, "z": tf.int32})
    assert json.loads(json_forms.answer(outputs, wanted, "inputs")) == {"outputs": [[1, 2.5]]}
    outputs["z"] = np.array(3, "int32")
    assert json.loads(json_forms.answer(outputs, wanted, "inputs")) == {
        "outputs": {"y": [[1, 2.5]], "z": 3}
    }
    with pytest.raises(Refused, match="no common batch axis"):
        json_forms.answer(outputs, wanted, "instances")


def test_strings_in_answers():
    outputs = {"raw_bytes": np.array([b"\xff"], object), "name": np.array(["ž".encode()], object)}
    wanted = definition({"raw_bytes": tf.string, "name": tf.string})
    assert json.loads(json_forms.answer(outputs, wanted, "instances")) == {
        "predictions": [{"raw_bytes": {"b64": "/w=="}, "name": "ž"}]
    }


def test_float32_survives_the_text():
    value = np.array([[0.1, 1 / 3, 1e-30]], "float32")
    text = json_forms.answer({"y": value}, definition({"y": tf.float32}), "inputs")
    np.testing.assert_array_equal(np.array(json.loads(text)["outputs"], "float32"), value)


def test_examples():
    message = input_pb2.Input()
    body = {
        "context": {"place": "here"},
        "examples": [{"x": [1.5, 2.0], "n": 3, "flag": True, "image": b64(b"\xff"), "none": []}],
    }
    json_forms.examples_of(body, message)
    listed = message.example_list_with_context
    assert listed.context.features.feature["place"].bytes_list.value[:] == [b"here"]
    features = listed.examples[0].features.feature
    assert features["x"].float_list.value[:] == [1.5, 2.0]
    assert features["n"].int64_list.value[:] == [3]
    assert features["flag"].int64_list.value[:] == [1]
    assert features["image"].bytes_list.value[:] == [b"\xff"]
    assert features["none"].WhichOneof("kind") is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"examples": []},
        {"examples": [3]},
        {"examples": [{"x": [1.5, 2]}]},
        {"examples": [{"x": [[1]]}]},
        {"examples": [{"x": None}]},
        {"examples": [{"x": 2**70}]},
        {"examples": [{"x": {"b64": "?"}}]},
        {"examples": [{"x": 1}], "context": []},
        {"examples": [{"\ud800": 1}]},
    ],
)
def test_what_is_no_example(body):
    with pytest.raises(Refused):
        json_forms.examples_of(body, input_pb2.Input())
