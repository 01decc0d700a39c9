"""Arrays as TF Serving sends them."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2

from keras_vit.export.server.errors import Refused
from keras_vit.export.server.tensors import dtype_of, from_proto, to_proto


@pytest.mark.parametrize(
    ("dtype", "field"),
    [
        (tf.float32, "float_val"),
        (tf.float64, "double_val"),
        (tf.int32, "int_val"),
        (tf.uint8, "int_val"),
        (tf.int64, "int64_val"),
        (tf.uint64, "uint64_val"),
        (tf.bool, "bool_val"),
        (tf.half, "half_val"),
        (tf.bfloat16, "half_val"),
    ],
)
def test_values_stand_in_their_own_field(dtype, field):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype.as_numpy_dtype)
    proto = to_proto(array, dtype)
    assert len(getattr(proto, field)) == 6 and not proto.tensor_content
    back = tf.make_ndarray(proto)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_strings():
    array = np.array([[b"a", b"\x00\xff"]], dtype=object)
    np.testing.assert_array_equal(tf.make_ndarray(to_proto(array, tf.string)), array)


def test_other_types_are_refused():
    with pytest.raises(Refused, match="complex64"):
        to_proto(np.zeros(1, "complex64"), tf.complex64)


def test_protos_come_back():
    array = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(from_proto("x", tf.make_tensor_proto(array), 6), array)


def test_one_value_for_a_giant_tensor_takes_no_memory():
    proto = tf.make_tensor_proto(1.0)
    for size in (10**6, 10**6):
        proto.tensor_shape.dim.add(size=size)
    with pytest.raises(Refused, match="x is too large"):
        from_proto("x", proto, 10**6)


@pytest.mark.parametrize("size", [-1, 3])
def test_a_shape_that_its_values_do_not_fill(size):
    proto = tf.make_tensor_proto(np.zeros(2, "float32"))
    proto.tensor_shape.dim[0].size = size
    with pytest.raises(Refused) as caught:
        from_proto("x", proto, 100)
    assert caught.value.code == "INVALID_ARGUMENT"


def test_dtypes_of_signatures():
    assert dtype_of(meta_graph_pb2.TensorInfo(dtype=tf.int32.as_datatype_enum)) == tf.int32
