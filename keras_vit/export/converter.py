"""The TFLite converter in a process of its own, which `conversion` starts and talks to.

A native abort in the converter ends the process that it runs in. This file is run by its path and
imports nothing of keras_vit, so that the process is ready once TensorFlow is loaded. It reads a
request, a line of JSON, and answers with one: `{}`, or `{"error": ...}`.
"""

import json
import os
import re
import sys

import numpy as np
import tensorflow as tf

SIGNATURE = "serving_default"
INPUT = "images"


def float32(converter, images):
    """Leaves everything in float32."""


def float16(converter, images):
    """Weights in float16; what a GPU computes in."""
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16]


def dynamic_int8(converter, images):
    """Weights in int8; activations are quantised as they come, and stored in float32."""
    converter.optimizations = [tf.lite.Optimize.DEFAULT]


def full_int8(converter, images):
    """Every tensor in integers: uint8 pixels in, int8 logits out."""
    _calibrate(converter, images, tf.lite.OpsSet.TFLITE_BUILTINS_INT8)
    converter.inference_input_type = tf.uint8
    converter.inference_output_type = tf.int8


def full_uint8(converter, images):
    """Every tensor in integers, uint8 logits out: LiteRT.js 2.5 passes no int8."""
    full_int8(converter, images)
    converter.inference_output_type = tf.uint8


def int16x8(converter, images):
    """Activations in int16, weights in int8: int16 pixels in, int16 logits out."""
    name = "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    _calibrate(converter, images, getattr(tf.lite.OpsSet, name))
    converter.inference_input_type = converter.inference_output_type = tf.int16


def learned_int8(converter, images):
    """Every tensor in integers of the range that a rounding operator in the graph tells."""
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.inference_input_type = tf.uint8
    converter.inference_output_type = tf.int8


def _calibrate(converter, images, operators):
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [operators]
    converter.representative_dataset = lambda: ({INPUT: image[None]} for image in images)


def products_int8(content, images, measure):
    """Matrix products and convolutions in int8 with fixed ranges; everything else in float32."""
    from litert_quantizer import qtyping, quantizer

    found = quantizer.Quantizer(content)
    for product in ("FULLY_CONNECTED", "CONV_2D"):
        found.add_static_config(
            ".*", qtyping.TFLOperationName[product], activation_num_bits=8, weight_num_bits=8
        )
    return bytes(found.quantize(measure(content, images)).quantized_model)


def min_max(content, images):
    """Returns the lowest and the highest value of every float tensor: `{name: {"min", "max"}}`.

    (The quantizer's own calibration takes a moving average of the extremes, which cuts them off:
    on the digits its cosine is 0.867, and 0.988 with these.)
    """
    found = {}
    for name, values in _tensors(content, images):
        low, high = values.min(keepdims=True), values.max(keepdims=True)
        seen = found.setdefault(name, {"min": low, "max": high})
        seen["min"], seen["max"] = np.minimum(seen["min"], low), np.maximum(seen["max"], high)
    return found


def percentile(content, images):
    """The range that leaves out the `OUTLIERS` at either end."""

    def inner(counts, edges):
        share = np.cumsum(counts) / counts.sum()
        low = edges[np.searchsorted(share, OUTLIERS, side="right")]
        return low, edges[np.searchsorted(share, 1 - OUTLIERS) + 1]

    return _narrowed(content, images, inner)


def least_squares(content, images):
    """The one of `SHRUNK` times the whole range that 8 bits round with the least error."""

    def inner(counts, edges):
        centres = (edges[:-1] + edges[1:]) / 2
        errors = []
        for share in SHRUNK:
            low, high = min(edges[0] * share, 0), max(edges[-1] * share, 0)
            step = (high - low) / 255 or 1
            rounded = np.round((np.clip(centres, low, high) - low) / step) * step + low
            errors.append((counts * (rounded - centres) ** 2).sum())
        best = SHRUNK[int(np.argmin(errors))]
        return edges[0] * best, edges[-1] * best

    return _narrowed(content, images, inner)


# How a tensor's range is taken from the values that it had on the calibration images.
MEASURES = {"min_max": min_max, "percentile": percentile, "least_squares": least_squares}
BINS, OUTLIERS, SHRUNK = 2048, 1e-4, np.linspace(1, 0.2, 41)


def _narrowed(content, images, inner):
    """The ranges that `inner` makes of each tensor's histogram: (counts, edges) to (low, high)."""
    whole, counts = min_max(content, images), {}
    edges = {
        name: np.linspace(float(seen["min"].item()), float(seen["max"].item()) + 1e-12, BINS + 1)
        for name, seen in whole.items()
    }
    for name, values in _tensors(content, images):
        counts[name] = counts.get(name, 0) + np.histogram(values, edges[name])[0]
    for name, seen in whole.items():
        low, high = inner(counts[name], edges[name])
        seen["min"] = np.full_like(seen["min"], low)
        seen["max"] = np.full_like(seen["max"], high)
    return whole


def _tensors(content, images):
    """Yields (name, values) of each float tensor for each image."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_content=content,
        experimental_preserve_all_tensors=True,
        # A delegate keeps what is inside it to itself.
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    runner = interpreter.get_signature_runner(SIGNATURE)
    tensors = [one for one in interpreter.get_tensor_details() if one["dtype"] == np.float32]
    for image in images:
        runner(**{INPUT: image[None]})
        for tensor in tensors:
            try:
                yield tensor["name"], interpreter.get_tensor(tensor["index"])
            except ValueError:  # a scratch tensor of a kernel
                continue


# What the converter does while it converts, and what is done to its float32 file afterwards.
CONVERTER = {
    "float32": float32,
    "float16": float16,
    "dynamic_int8": dynamic_int8,
    "full_int8": full_int8,
    "full_uint8": full_uint8,
    "int16x8": int16x8,
    "learned_int8": learned_int8,
}
QUANTIZER = {"products_int8": products_int8}
PRECISIONS = {**CONVERTER, **QUANTIZER}


def convert(folder, precision, images=None, measure="min_max"):
    """Returns the bytes of a `.tflite` file with stock operators only.

    Args:
        folder: a SavedModel.
        precision: key of `PRECISIONS`.
        images: calibration images `[n, h, w, c]`, float32, or None.
        measure: key of `MEASURES`, for the precisions in `QUANTIZER`; the converter takes minimum
            and maximum.
    """
    converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=[SIGNATURE])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
    CONVERTER.get(precision, float32)(converter, images)
    content = converter.convert()
    if precision in QUANTIZER:
        return QUANTIZER[precision](content, images, MEASURES[measure])
    return content


def reason(error):
    """One line of the compiler's log: the operators that TFLite lacks, where it names them."""
    text = str(error).strip()
    lacking = re.search(r"^(?:Custom|TF Select) ops: (.+)$", text, re.MULTILINE)
    return f"TFLite lacks the operators {lacking[1]}" if lacking else text.partition("\n")[0]


def answer(request):
    """Carries a request out; returns the answer."""
    try:
        images = np.load(request["images"]) if request["images"] else None
        content = convert(request["folder"], request["precision"], images, request["measure"])
    except Exception as error:  # the converter's own type, and whatever its passes raise
        return {"error": reason(error)}
    with open(request["out"], "wb") as file:
        file.write(content)
    return {}


def serve():
    """Answers requests until there are no more."""
    # What native code prints goes to the log, not between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    serve()
