"""Writes a TFLite file: static batch of one, stock operators only, description inside."""

import tempfile

import tensorflow as tf

from keras_vit.export import conversion
from keras_vit.export.calibration import with_full_range
from keras_vit.export.converter import QUANTIZER
from keras_vit.export.metadata import describe
from keras_vit.export.rewrite import rewrite
from keras_vit.layers.extras import require
from keras_vit.runtime.embedded import embed
from keras_vit.runtime.tflite import SIGNATURE


def write_tflite(model, path, profile, images=None):
    """Converts a model.

    Args:
        model: a Keras model with a `preprocessing`.
        path: the file to write.
        profile: the `Profile`.
        images: calibration images `[n, h, w, c]`, raw pixels in float32, where it needs them.

    Raises:
        ValueError: if the model does not convert with TFLite's own operators.
        ImportError: if the profile's quantiser is not installed.
    """
    if profile.precision in QUANTIZER:
        require("litert_quantizer", extra="edge")
    graph, _ = rewrite(model, profile.passes)
    if images is not None and profile.calibrated:
        images = with_full_range(images)
    with tempfile.TemporaryDirectory() as folder:
        # Keras weights are lost without an error when a concrete function is converted together
        # with its model (TF 2.21, Keras 3.15); by way of a SavedModel they are not.
        save_static(graph, folder)
        try:
            conversion.convert(
                folder, profile.precision, path, images if profile.calibrated else None
            )
        except ValueError as error:
            raise ValueError(f"{model.name} cannot be converted to TFLite: {error}") from error
    describe(path, model)
    embed(path, model.preprocessing)


def save_static(graph, folder):
    """Saves a graph with a batch of one as a SavedModel with one signature.

    A dynamic batch adds operators around every Dense, and browsers and NPUs refuse it.
    """
    shape = (1, *graph.input_shape[1:])

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="images")], autograph=False)
    def serve(images):
        return {"logits": graph(images, training=False)}

    module = tf.Module()
    module.weights = [weight.value for weight in graph.weights]
    tf.saved_model.save(module, str(folder), signatures={SIGNATURE: serve})
