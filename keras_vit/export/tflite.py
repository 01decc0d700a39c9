"""Writes a TFLite file: static batch of one, stock operators only, description inside."""

import functools
import tempfile

import tensorflow as tf

from keras_vit.export import conversion
from keras_vit.export.calibration import with_full_range
from keras_vit.export.converter import QUANTIZER
from keras_vit.export.metadata import describe
from keras_vit.export.qat.exporting import rounding
from keras_vit.export.rewrite import rewrite
from keras_vit.export.serving.attention import attention_of
from keras_vit.export.serving.graph import float32_model
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
    graph, answer = _way(profile, images)(model, profile)
    images = with_full_range(images) if profile.calibrated else None
    with tempfile.TemporaryDirectory() as folder:
        # Keras weights are lost without an error when a concrete function is converted together
        # with its model (TF 2.21, Keras 3.15); by way of a SavedModel they are not.
        save_static(graph, folder, answer)
        try:
            conversion.convert(folder, profile.precision, path, images, profile.measure)
        except ValueError as error:
            raise ValueError(f"{model.name} cannot be converted to TFLite: {error}") from error
    describe(path, model)
    embed(path, model.preprocessing)


def _way(profile, images):
    if profile.precision == "learned_int8":
        return rounding
    return _attending if profile.attention else functools.partial(_answering, images=images)


def _answering(model, profile, images):
    """(the rewritten model, function from raw pixels to what the file gives)."""
    graph, _ = rewrite(model, profile.passes, images)
    return graph, lambda images: {"logits": graph(images, training=False)}


def _attending(model, profile):
    """The same with attention beside the logits. Nothing is rewritten: its blocks are needed."""
    graph = float32_model(model)
    attend = attention_of(graph)

    def answer(images):
        logits, attention = attend(model.preprocessing.normalize(images))
        return {"logits": logits, "attention": attention}

    return graph, answer


def save_static(graph, folder, answer):
    """Saves a graph with a batch of one as a SavedModel with one signature.

    A dynamic batch adds operators around every Dense, and browsers and NPUs refuse it.

    Args:
        graph: the owner of the weights.
        folder: the folder to write.
        answer: function from raw pixels `[1, h, w, c]` to a dict of tensors.
    """
    shape = (1, *graph.input_shape[1:])

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="images")], autograph=False)
    def serve(images):
        return answer(images)

    module = tf.Module()
    module.weights = [weight.value for weight in graph.weights]
    tf.saved_model.save(module, str(folder), signatures={SIGNATURE: serve})
