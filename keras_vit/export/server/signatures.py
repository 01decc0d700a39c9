"""What a signature asks of a request, read from the SavedModel's own definition."""

import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2

from keras_vit.export.server.errors import Refused, first_line

DEFAULT = "serving_default"


def signature_defs(path):
    """Returns the `SignatureDef`s of a SavedModel folder, as a dict of name to message.

    They are read from `saved_model.pb` itself, so that they are what TF Serving reports.

    Raises:
        ValueError: if the file is damaged, or holds no graph for serving.
    """
    saved, content = saved_model_pb2.SavedModel(), (path / "saved_model.pb").read_bytes()
    try:
        saved.ParseFromString(content)
    except Exception as error:  # protobuf's DecodeError; it may come as others from its C part
        raise ValueError(f"{path}/saved_model.pb is damaged: {first_line(error)}") from error
    for graph in saved.meta_graphs:
        if "serve" in graph.meta_info_def.tags:
            return dict(graph.signature_def)
    raise ValueError(f"{path}/saved_model.pb holds no graph with the tag `serve`.")


def shape_of(info):
    """Returns the shape of a `TensorInfo` as a tuple, None for free sizes; None for any rank."""
    if info.tensor_shape.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else dim.size for dim in info.tensor_shape.dim)


def is_batched(definition):
    """Whether the first axis of every input and output is free: requests can be joined."""
    infos = [*definition.inputs.values(), *definition.outputs.values()]
    shapes = [shape_of(info) for info in infos]
    return bool(definition.inputs) and all(shape and shape[0] is None for shape in shapes)


def check_names(definition, names):
    """Checks that a request names the inputs of a signature.

    Raises:
        Refused: if not, in TF Serving's words.
    """
    given, wanted = set(names), set(definition.inputs)
    missing, extra = wanted - given - set(definition.defaults), given - wanted
    if missing or extra:
        said = [",".join(sorted(names)) for names in (given, wanted, extra, missing)]
        raise Refused(
            "INVALID_ARGUMENT",
            f"input size does not match signature: {len(given)}!={len(wanted)} "
            f"len({{{said[0]}}}) != len({{{said[1]}}}). Sent extra: {{{said[2]}}}. "
            f"Missing but required: {{{said[3]}}}.",
        )


def check_form(name, info, dtype, shape):
    """Checks dtype and shape of one input before memory is taken for it.

    Raises:
        Refused: if the signature's definition does not allow them.
    """
    if dtype != info.dtype:
        known = types_pb2.DataType.values()
        given = tf.dtypes.as_dtype(dtype).name if dtype in known[1:] else f"type {dtype}"
        wanted = tf.dtypes.as_dtype(info.dtype).name
        raise Refused("INVALID_ARGUMENT", f"{name} must be {wanted}. Received: {given}.")
    wanted = shape_of(info)
    if wanted is None:
        return
    fits = len(shape) == len(wanted) and all(
        size is None or size == given for size, given in zip(wanted, shape, strict=True)
    )
    if not fits:
        said = ", ".join("any" if size is None else str(size) for size in wanted)
        raise Refused(
            "INVALID_ARGUMENT", f"{name} must have the shape [{said}]. Received: {list(shape)}."
        )


def rows_of(definition, inputs, most):
    """Returns the number of examples in a request: the length of the first axis.

    Args:
        definition: `SignatureDef`.
        inputs: dict of name to shape.
        most: the largest number that is allowed.

    Returns:
        A number, or None for a signature whose requests cannot be joined.

    Raises:
        Refused: if inputs differ in it, or it is 0 or too large.
    """
    if not is_batched(definition):
        return None
    counts = {shape[0] for shape in inputs.values()}
    if len(counts) > 1:
        raise Refused(
            "INVALID_ARGUMENT",
            f"The first axis of all inputs must be equally long. Received: {sorted(counts)}.",
        )
    (count,) = counts
    if not 1 <= count <= most:
        raise Refused(
            "INVALID_ARGUMENT",
            f"A request must hold 1 to {most} examples. Received: {count}.",
        )
    return count


def with_defaults(definition, inputs):
    """Returns the inputs with a signature's default values for those that are missing."""
    missing = set(definition.inputs) - set(inputs)
    return {**inputs, **{name: tf.make_ndarray(definition.defaults[name]) for name in missing}}


def tensor_info(dtype, shape, name):
    """Returns a `TensorInfo`, for a signature that no SavedModel states.

    Args:
        dtype: TensorFlow's dtype.
        shape: tuple, None for free sizes.
        name: name of the tensor.
    """
    return meta_graph_pb2.TensorInfo(
        name=name, dtype=dtype.as_datatype_enum, tensor_shape=tf.TensorShape(shape).as_proto()
    )


def kind_of(name, inputs):
    """Returns what is equal for requests that can be joined: signature, dtypes and shapes."""
    forms = sorted((key, array.dtype.str, array.shape[1:]) for key, array in inputs.items())
    return (name, *forms)
