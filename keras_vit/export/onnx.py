"""Writes an ONNX file: raw pixels in, any batch, description inside."""

import math

import numpy as np
import tensorflow as tf

from keras_vit.export.serving.answers import PROBABILITIES
from keras_vit.export.serving.graph import float32_model
from keras_vit.layers.extras import require
from keras_vit.runtime.embedded import texts
from keras_vit.version import __version__

# Of December 2022: what reads ONNX reads it, TensorRT from 8.6 on.
OPSET = 18
# What protobuf, of which the format is made, can hold in one file.
MOST_BYTES = 2**31 - 2**20


def write_onnx(model, path, profile=None, images=None):
    """Converts a model.

    Input: `images`, raw pixels 0 to 255, float32 `[b, h, w, c]`. Outputs: `logits` and
    `probabilities`, `[b, num_classes]`. The file's metadata holds `labels.txt` and
    `preprocessing.json`.

    Args:
        model: a Keras model with a `preprocessing`.
        path: the file to write.
        profile: not used; there is one kind of ONNX file.
        images: not used; the file needs no calibration.

    Raises:
        ValueError: if the model does not become valid ONNX, or is too large for one file.
        ImportError: if `onnx` or `tf2onnx` is not installed.
    """
    onnx = require("onnx", extra="onnx")
    size = sum(4 * math.prod(weight.shape) for weight in model.weights)
    if size > MOST_BYTES:
        raise ValueError(
            "`model` must have less than 2 GiB of weights, the most that an ONNX file holds. "
            f"Received: {model.name}, with {size / 2**30:.1f} GiB."
        )
    proto = _converted(float32_model(model))
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    for key, text in texts(model.preprocessing).items():
        proto.metadata_props.add(key=key, value=text)
    proto.producer_name, proto.producer_version = "keras_vit", __version__
    try:
        onnx.checker.check_model(proto, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ValueError(f"{model.name} does not become valid ONNX: {error}") from error
    onnx.save(proto, str(path))


def _converted(graph):
    tf2onnx = require("tf2onnx", extra="onnx")
    probabilities = PROBABILITIES[graph.preprocessing.probabilities]
    images = tf.TensorSpec((None, *graph.input_shape[1:]), name="images")

    @tf.function(input_signature=[images], autograph=False)
    def serve(images):
        logits = graph(graph.preprocessing.normalize(images), training=False)
        return {"logits": logits, "probabilities": probabilities(logits)}

    proto, _ = tf2onnx.convert.from_function(
        serve, [images], opset=OPSET, custom_op_handlers={"Erfc": (erfc, [])}
    )
    return proto


def erfc(context, node, name, args):
    """Converts the `Erfc` of TensorFlow's exact GELU, which tf2onnx 1.17 writes as it is.

    `x / 2 * erfc(-x * sqrt(1 / 2))` becomes `x / 2 * (1 + erf(x / sqrt(2)))`: the same, and the
    form by which ONNX Runtime knows a GELU, and computes it in one pass.

    Args:
        context, node, name, args: those of tf2onnx's handlers.

    Raises:
        ValueError: for an `Erfc` of something else.
    """
    scaled = node.inputs[0]
    if scaled.type != "Mul" or scaled.inputs[0].type != "Neg":
        raise ValueError(f"The operator `Erfc` outside a GELU has no ONNX form here: {name}.")
    output, form = (
        node.output[0],
        {
            "dtypes": [context.get_dtype(node.output[0])],
            "shapes": [context.get_shape(node.output[0])],
        },
    )
    root, one = (
        context.make_const(f"{name}/{key}", np.array(value, "float32")).output[0]
        for key, value in (("root", math.sqrt(2)), ("one", 1))
    )
    context.remove_node(name)
    x = context.make_node("Div", [scaled.inputs[0].input[0], root], **form).output[0]
    error_function = context.make_node("Erf", [x], **form).output[0]
    context.make_node("Add", [error_function, one], outputs=[output], name=name, **form)
