"""Writes a SavedModel that a server can call: arrays or encoded pictures, any batch."""

import tempfile
from pathlib import Path

import tensorflow as tf

from keras_vit.data.decode import decode, fit
from keras_vit.export.rewrite import patch_convolution
from keras_vit.runtime.embedded import texts

# Channels that an encoded picture can be decoded to; other models take arrays only.
PICTURES = (1, 3)


def write_saved_model(model, path, precision="float32", images=None):
    """Saves a model with two signatures and its description as assets.

    `serving_default` takes `images`, raw pixels `[b, h, w, c]` in float32; `serving_bytes` takes
    `image_bytes`, encoded pictures `[b]` (TF Serving's REST interface passes names that end in
    `_bytes` as base64). Both give `logits` and `probabilities`, `[b, num_classes]`.

    Args:
        model: a Keras model with a `preprocessing`.
        path: the folder to write.
        precision: `"float32"`, the only one.
        images: not used; a SavedModel needs no calibration.
    """
    graph = patch_convolution(model)
    with tempfile.TemporaryDirectory() as folder:
        module = tf.Module()
        # The weights alone: tracking the Keras model would save its layers' own functions too,
        # and need keras_vit to load.
        module.weights = [weight.value for weight in graph.weights]
        module.assets = [
            tf.saved_model.Asset(_written(Path(folder) / name, text))
            for name, text in texts(model.preprocessing).items()
        ]
        tf.saved_model.save(module, str(path), signatures=signatures(graph, model.preprocessing))


def signatures(graph, preprocessing):
    """Returns the signatures, a dict of name to `tf.function`.

    Args:
        graph: Keras model that takes raw pixels, float32.
        preprocessing: the `Preprocessing` by which pictures become pixels.
    """
    image = tf.TensorSpec(graph.input_shape[1:], tf.float32)
    pixels = tf.TensorSpec(graph.input_shape, tf.float32, name="images")
    encoded = tf.TensorSpec((None,), tf.string, name="image_bytes")

    @tf.function(input_signature=[pixels], autograph=False)
    def serve(images):
        logits = graph(images, training=False)
        return {"logits": logits, "probabilities": tf.nn.softmax(logits)}

    def prepared(picture):
        pixels = fit(decode(picture, preprocessing.channels), preprocessing)
        return tf.ensure_shape(pixels, image.shape)

    @tf.function(input_signature=[encoded], autograph=False)
    def serve_bytes(image_bytes):
        return serve(tf.map_fn(prepared, image_bytes, fn_output_signature=image))

    if preprocessing.channels not in PICTURES:
        return {"serving_default": serve}
    return {"serving_default": serve, "serving_bytes": serve_bytes}


def _written(path, text):
    path.write_text(text, "utf-8")
    return str(path)
