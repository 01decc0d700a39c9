"""Writes a TFLite file: static batch of one, stock operators only, description inside."""

import re
import tempfile
import warnings

import tensorflow as tf

from keras_vit.export.calibration import with_full_range
from keras_vit.export.rewrite import patch_convolution
from keras_vit.runtime.embedded import embed
from keras_vit.runtime.tflite import SIGNATURE


def write_tflite(model, path, precision, images=None):
    """Converts a model.

    Args:
        model: a Keras model with a `preprocessing`.
        path: the file to write.
        precision: key of `PRECISIONS`.
        images: calibration images `[n, h, w, c]`, raw pixels in float32; only for `"full_int8"`.

    Raises:
        ValueError: if the model does not convert with TFLite's own operators.
    """
    graph = patch_convolution(model)
    with tempfile.TemporaryDirectory() as folder:
        # Keras weights are lost without an error when a concrete function is converted together
        # with its model (TF 2.21, Keras 3.15); by way of a SavedModel they are not.
        _save_static(graph, folder)
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=[SIGNATURE])
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        PRECISIONS[precision](converter, images)
        content = _converted(converter, model.name)
    with open(path, "wb") as file:
        file.write(content)
    embed(path, model.preprocessing)


def float32(converter, images):
    """Leaves everything in float32."""


def dynamic_int8(converter, images):
    """Weights in int8; activations are quantised as they come, and stored in float32."""
    converter.optimizations = [tf.lite.Optimize.DEFAULT]


def full_int8(converter, images):
    """Every tensor in integers: uint8 pixels in, int8 logits out."""
    images = with_full_range(images)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.representative_dataset = lambda: ({"images": image[None]} for image in images)
    converter.inference_input_type = tf.uint8
    converter.inference_output_type = tf.int8


PRECISIONS = {"float32": float32, "dynamic_int8": dynamic_int8, "full_int8": full_int8}


def _save_static(graph, folder):
    # A dynamic batch adds operators around every Dense, and browsers and NPUs refuse it.
    shape = (1, *graph.input_shape[1:])

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="images")], autograph=False)
    def serve(images):
        return {"logits": graph(images, training=False)}

    module = tf.Module()
    module.weights = [weight.value for weight in graph.weights]
    tf.saved_model.save(module, folder, signatures={SIGNATURE: serve})


def _converted(converter, name):
    with warnings.catch_warnings():
        # The converter calibrates with TensorFlow's own interpreter, which announces its end.
        warnings.filterwarnings("ignore", message=r"\s*Warning: tf\.lite\.Interpreter")
        try:
            return converter.convert()
        except Exception as error:  # the converter's own type, and whatever its passes raise
            raise ValueError(f"{name} cannot be converted to TFLite: {_reason(error)}") from error


def _reason(error):
    """One line of the compiler's log: the operators that TFLite lacks, where it names them."""
    text = str(error).strip()
    lacking = re.search(r"^(?:Custom|TF Select) ops: (.+)$", text, re.MULTILINE)
    return f"TFLite lacks the operators {lacking[1]}" if lacking else text.partition("\n")[0]
