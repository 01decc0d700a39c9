"""Arrays and `TensorProto`, as TF Serving fills it: values in the field of their dtype."""

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2

from keras_vit.export.server.errors import Refused, first_line

# Clients read these fields without tf.make_ndarray, so `tensor_content` would not do.
_FIELDS = {
    tf.float32: "float_val",
    tf.float64: "double_val",
    tf.int8: "int_val",
    tf.int16: "int_val",
    tf.int32: "int_val",
    tf.uint8: "int_val",
    tf.uint16: "int_val",
    tf.int64: "int64_val",
    tf.bool: "bool_val",
    tf.uint32: "uint32_val",
    tf.uint64: "uint64_val",
    tf.string: "string_val",
    tf.half: "half_val",
    tf.bfloat16: "half_val",
}


def to_proto(array, dtype):
    """Returns an array as a `TensorProto`.

    Args:
        array: numpy array; of bytes objects for strings.
        dtype: its TensorFlow dtype.

    Example:

    >>> to_proto(np.array([[1, 2.5]], "float32"), tf.float32).float_val
    [1.0, 2.5]
    """
    array = np.asarray(array)
    proto = tensor_pb2.TensorProto(
        dtype=dtype.as_datatype_enum, tensor_shape=tf.TensorShape(array.shape).as_proto()
    )
    field = _FIELDS.get(dtype)
    if field is None:
        raise Refused("UNIMPLEMENTED", f"Outputs of the type {dtype.name} are not served.")
    flat = array.reshape(-1)
    if field == "half_val":
        flat = flat.view("uint16")
    getattr(proto, field).extend(flat.tolist())
    return proto


def from_proto(name, proto, most):
    """Returns a `TensorProto` as an array.

    Args:
        name: what the request calls it, for the message.
        proto: its dtype and shape are already checked.
        most: the largest number of elements: one value may stand for a tensor of any size.

    Raises:
        Refused: if its values do not fill its shape, or there are too many.
    """
    sizes = [dim.size for dim in proto.tensor_shape.dim]
    if min(sizes, default=0) < 0 or np.prod(sizes, dtype="float64") > most:
        raise Refused("INVALID_ARGUMENT", f"{name} is too large: shape {sizes}.")
    try:
        return tf.make_ndarray(proto)
    except (TypeError, ValueError) as error:
        raise Refused("INVALID_ARGUMENT", f"{name} is malformed: {first_line(error)}") from error


def dtype_of(info):
    """Returns the TensorFlow dtype of a `TensorInfo`."""
    return tf.dtypes.as_dtype(info.dtype)
