"""TF Serving's JSON forms: values to arrays, and arrays to values."""

import base64
import binascii
import json

import numpy as np
import tensorflow as tf

from keras_vit.export.server.errors import Refused, first_line
from keras_vit.export.server.tensors import dtype_of

BASE64, BYTES_SUFFIX = "b64", "_bytes"
ROW, COLUMN = "instances", "inputs"


def parsed(body):
    """Returns the JSON object of a request's body.

    Raises:
        Refused: if it is none.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _bad(f"JSON Parse error: {first_line(error)}") from error
    if not isinstance(value, dict):
        raise _bad("The body must be a JSON object.")
    signature = value.get("signature_name", "")
    if not isinstance(signature, str):
        raise _bad("'signature_name' key must be a string value.")
    return value


def inputs_of(body, definition):
    """Returns the inputs of a predict request, and the form in which its answer is due.

    Args:
        body: the JSON object.
        definition: the `SignatureDef` that it asks.

    Returns:
        `(dict of name to array, "instances" or "inputs")`.

    Raises:
        Refused: if the object does not fit the signature.
    """
    if (ROW in body) == (COLUMN in body):
        raise _bad(f"Expecting one of '{COLUMN}' or '{ROW}' keys.")
    if ROW in body:
        return _of_rows(body[ROW], definition), ROW
    return _of_columns(body[COLUMN], definition), COLUMN


def _of_rows(instances, definition):
    if not isinstance(instances, list) or not instances:
        raise _bad(f"'{ROW}' must be a list with at least one element.")
    infos = definition.inputs
    named = isinstance(instances[0], dict) and not _is_base64(instances[0])
    if not named and len(infos) != 1:
        raise _bad(f"'{ROW}' must be a list of objects, since the signature has several inputs.")
    columns = {name: [] for name in infos}
    for index, instance in enumerate(instances):
        if named != (isinstance(instance, dict) and not _is_base64(instance)):
            raise _bad(f"'{ROW}' must be all objects or all values: element {index} differs.")
        if not named:
            instance = {name: instance for name in infos}
        if set(instance) != set(infos):
            keys = ",".join(sorted(infos))
            raise _bad(f"Failed to process element: {index} of '{ROW}'. Keys must be: {keys}")
        for name, value in instance.items():
            columns[name].append(value)
    return {name: array_of(name, column, infos[name]) for name, column in columns.items()}


def _of_columns(inputs, definition):
    infos = definition.inputs
    if not isinstance(inputs, dict) or _is_base64(inputs):
        if len(infos) != 1:
            raise _bad(f"'{COLUMN}' must be an object, since the signature has several inputs.")
        inputs = {name: inputs for name in infos}
    for name in infos:
        if name not in inputs and name not in definition.defaults:
            raise _bad(f"Missing named input: {name} in '{COLUMN}' object.")
    for name in inputs:
        if name not in infos:
            raise _bad(f"The signature has no input: {name}.")
    return {name: array_of(name, value, infos[name]) for name, value in inputs.items()}


def array_of(name, value, info):
    """Returns a JSON value as an array of an input's dtype.

    Args:
        name: the input, for the message.
        value: nested lists.
        info: the input's `TensorInfo`.

    Raises:
        Refused: if the lists are uneven, or hold values of another type.
    """
    dtype = dtype_of(info)
    try:
        if dtype == tf.string:
            return _strings(value)
        return _numbers(value, np.dtype(dtype.as_numpy_dtype))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise _bad(f"{name}: {first_line(error)}") from error


def _numbers(value, dtype):
    # By the types first: numpy would make one giant text of numbers beside a long one.
    allowed = {"b": {bool}, "i": {int}, "u": {int}}.get(dtype.kind, {int, float})
    if not _types(value) <= allowed:
        raise ValueError(f"must hold values of the type {dtype.name} only")
    if dtype.kind in "biu":
        return np.array(value, dtype)
    array = np.array(value, "float64")
    with np.errstate(over="ignore"):
        typed = array.astype(dtype)
    if not np.array_equal(np.isinf(typed), np.isinf(array)):
        raise ValueError(f"holds a value that is beyond {dtype.name}")
    return typed


def _types(value):
    """The types of the values in nested lists."""
    if not isinstance(value, list):
        return {type(value)}
    types = set(map(type, value))
    inner = [_types(one) for one in value if isinstance(one, list)] if list in types else []
    return (types - {list}).union(*inner)


def _strings(value):
    array = np.array(_encoded(value), dtype=object)
    if not all(isinstance(one, bytes) for one in array.reshape(-1)):
        raise ValueError("lists are not equally long")
    return array


def _encoded(value):
    if isinstance(value, list):
        return [_encoded(one) for one in value]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if _is_base64(value):
        return _decoded(value[BASE64])
    raise ValueError('must hold strings or {"b64": "..."} only')


def _is_base64(value):
    return isinstance(value, dict) and set(value) == {BASE64} and isinstance(value[BASE64], str)


def _decoded(text):
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"Unable to base64 decode: {first_line(error)}") from error


def answer(outputs, definition, form):
    """Returns the body that answers a predict request.

    Args:
        outputs: dict of name to array.
        definition: `SignatureDef`.
        form: `"instances"` or `"inputs"`: the form of the request.

    Raises:
        Refused: for the row form, if outputs have no common first axis.
    """
    values = {
        name: _listed(array, name, dtype_of(definition.outputs[name]))
        for name, array in outputs.items()
    }
    if form == COLUMN:
        only = len(values) == 1
        return json.dumps({"outputs": next(iter(values.values())) if only else values})
    lengths = {len(value) if isinstance(value, list) else None for value in values.values()}
    if None in lengths or len(lengths) > 1:
        raise _bad("The outputs have no common batch axis; ask for them in the column form.")
    if len(values) == 1:
        return json.dumps({"predictions": next(iter(values.values()))})
    rows = zip(*values.values(), strict=True)
    return json.dumps({"predictions": [dict(zip(values, row, strict=True)) for row in rows]})


def _listed(array, name, dtype):
    if dtype != tf.string:
        return array.astype("float32").tolist() if dtype == tf.bfloat16 else array.tolist()
    return _texts(array.tolist(), name.endswith(BYTES_SUFFIX))


def _texts(value, is_binary):
    if isinstance(value, list):
        return [_texts(one, is_binary) for one in value]
    if is_binary:
        return {BASE64: base64.b64encode(value).decode("ascii")}
    return value.decode("utf-8", "replace")


def examples_of(body, message):
    """Fills TF Serving's `Input` message from a classify request.

    Args:
        body: the JSON object, with `examples` and perhaps `context`.
        message: the message.

    Raises:
        Refused: if the object does not describe examples.
    """
    examples = body.get("examples")
    if not isinstance(examples, list) or not examples:
        raise _bad("'examples' must be a list with at least one element.")
    target = message.example_list
    if "context" in body:
        target = message.example_list_with_context
        _fill(target.context, body["context"])
    for example in examples:
        _fill(target.examples.add(), example)


def _fill(example, value):
    if not isinstance(value, dict):
        raise _bad("Example must be a JSON object.")
    for name, content in value.items():
        content = content if isinstance(content, list) else [content]
        try:
            _fill_feature(example.features.feature[name], content)
        except (ValueError, TypeError, OverflowError) as error:
            raise _bad(f"Feature {name!r}: {first_line(error)}") from error


def _fill_feature(feature, content):
    kinds = {type(value) for value in content}
    if not kinds:
        return
    if kinds <= {bool, int}:
        feature.int64_list.value.extend(int(value) for value in content)
    elif kinds == {float}:
        feature.float_list.value.extend(content)
    elif kinds <= {str, dict}:
        feature.bytes_list.value.extend(_encoded(content))
    else:
        raise ValueError("must hold values of one kind: numbers, strings or base64 objects")


def classification(result):
    """Returns the body that answers a classify request.

    Args:
        result: TF Serving's `ClassificationResult`.
    """
    rows = [[[one.label, one.score] for one in row.classes] for row in result.classifications]
    return json.dumps({"results": rows})


def _bad(message):
    return Refused("INVALID_ARGUMENT", message)
