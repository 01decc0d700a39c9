"""What signatures ask for."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2

from keras_vit.export.server import signatures
from keras_vit.export.server.errors import Refused

FLOAT = tf.float32.as_datatype_enum


def definition(inputs, outputs=None):
    outputs = {"y": (None, 3)} if outputs is None else outputs
    infos = [
        {name: signatures.tensor_info(tf.float32, shape, name) for name, shape in one.items()}
        for one in (inputs, outputs)
    ]
    return meta_graph_pb2.SignatureDef(inputs=infos[0], outputs=infos[1])


def test_definitions_are_those_of_the_file(toy_model):
    found = signatures.signature_defs(toy_model)
    names = {"serving_default", "pair", "texts", "fixed", "classify"}
    assert names <= set(found)
    assert signatures.shape_of(found["serving_default"].inputs["x"]) == (None, 2)
    assert found["classify"].method_name == "tensorflow/serving/classify"
    batched = {name for name in names if signatures.is_batched(found[name])}
    assert batched == names - {"fixed"}


def test_damaged_files_are_refused(toy_model, tmp_path):
    with pytest.raises(FileNotFoundError):
        signatures.signature_defs(tmp_path)
    whole = (toy_model / "saved_model.pb").read_bytes()
    (tmp_path / "saved_model.pb").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged"):
        signatures.signature_defs(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(ValueError, match="tag `serve`"):
        signatures.signature_defs(tmp_path)


def test_shapes():
    info = signatures.tensor_info(tf.float32, (None, 2), "x")
    assert signatures.shape_of(info) == (None, 2)
    assert signatures.shape_of(signatures.tensor_info(tf.float32, None, "x")) is None
    assert signatures.shape_of(signatures.tensor_info(tf.float32, (), "x")) == ()


@pytest.mark.parametrize(
    ("inputs", "outputs", "batched"),
    [
        ({"x": (None, 2)}, {"y": (None,)}, True),
        ({"x": (None, 2)}, {"y": ()}, False),
        ({"x": (None, 2), "z": (1,)}, {"y": (None,)}, False),
        ({"x": None}, {"y": (None,)}, False),
        ({}, {"y": (None,)}, False),
    ],
)
def test_what_can_be_joined(inputs, outputs, batched):
    assert signatures.is_batched(definition(inputs, outputs)) is batched


def test_names():
    wanted = definition({"a": (None,), "b": (None,)})
    signatures.check_names(wanted, ["b", "a"])
    with pytest.raises(Refused) as caught:
        signatures.check_names(wanted, ["a", "c"])
    assert caught.value.message == (
        "input size does not match signature: 2!=2 len({a,c}) != len({a,b}). "
        "Sent extra: {c}. Missing but required: {b}."
    )


def test_defaults_stand_in():
    wanted = definition({"a": (None,), "b": ()})
    wanted.defaults["b"].CopyFrom(tf.make_tensor_proto(2.5))
    signatures.check_names(wanted, ["a"])
    assert signatures.with_defaults(wanted, {"a": 1}) == {"a": 1, "b": 2.5}


@pytest.mark.parametrize("shape", [(1, 2), (7, 2)])
def test_forms_that_fit(shape):
    info = signatures.tensor_info(tf.float32, (None, 2), "x")
    signatures.check_form("x", info, FLOAT, shape)
    signatures.check_form("x", signatures.tensor_info(tf.float32, None, "x"), FLOAT, shape)


@pytest.mark.parametrize("shape", [(), (2,), (1, 3), (1, 2, 1)])
def test_forms_that_do_not_fit(shape):
    info = signatures.tensor_info(tf.float32, (None, 2), "x")
    with pytest.raises(Refused, match=r"x must have the shape \[any, 2\]"):
        signatures.check_form("x", info, FLOAT, shape)
    with pytest.raises(Refused, match="x must be float32. Received: string"):
        signatures.check_form("x", info, tf.string.as_datatype_enum, (1, 2))
    with pytest.raises(Refused, match="Received: type 999"):
        signatures.check_form("x", info, 999, (1, 2))


def test_rows():
    wanted = definition({"a": (None,), "b": (None, 2)})
    assert signatures.rows_of(wanted, {"a": (3,), "b": (3, 2)}, 3) == 3
    assert signatures.rows_of(definition({"a": (2,)}), {"a": (2,)}, 1) is None
    with pytest.raises(Refused, match=r"equally long. Received: \[2, 3\]"):
        signatures.rows_of(wanted, {"a": (3,), "b": (2, 2)}, 3)
    for rows in (0, 4):
        with pytest.raises(Refused, match=f"1 to 3 examples. Received: {rows}"):
            signatures.rows_of(wanted, {"a": (rows,), "b": (rows, 2)}, 3)


def test_kinds():
    def kind(signature, dtype, *shape):
        return signatures.kind_of(signature, {"x": np.zeros(shape, dtype)})

    assert kind("a", "float32", 1, 2) == kind("a", "float32", 3, 2)
    kinds = {kind("a", "float32", 1, 2), kind("b", "float32", 1, 2)}
    kinds |= {kind("a", "float64", 1, 2), kind("a", "float32", 1, 3), kind("a", "float32", 1)}
    assert len(kinds) == 5
