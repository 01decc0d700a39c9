"""Writes a SavedModel that TF Serving loads, with all that belongs beside it."""

import tempfile
from pathlib import Path

import tensorflow as tf

from keras_vit.export.serving.batching import BATCHING, batching_parameters
from keras_vit.export.serving.card import card, write_card
from keras_vit.export.serving.graph import float32_model
from keras_vit.export.serving.parity import measured
from keras_vit.export.serving.signatures import CLASSIFY, CLASSIFY_METHOD, signatures
from keras_vit.export.serving.warmup import BATCH_SIZES, RECORDS, write_warmup
from keras_vit.runtime.embedded import texts


def write_saved_model(model, path, profile=None, images=None, xla_batches=()):
    """Writes one version of a model for serving.

    The folder holds the SavedModel; `assets`: class names and preprocessing; `assets.extra`: the
    warm-up requests, and images with the Keras model's logits for them; `SERVING.json`; and
    `batching_parameters.txt`. Signatures: `serving_default` and `serving_uint8` take `images`,
    raw pixels `[b, h, w, c]`; `serving_bytes` takes `image_bytes`, encoded pictures `[b]`;
    `classify` takes `tf.Example`s; `features` and `explain` take `images`. See `answers` for
    what they give.

    Args:
        model: a Keras model with a `preprocessing`.
        path: the folder to write.
        profile: not used; there is one kind of SavedModel.
        images: raw pixels `[n, h, w, c]` to compare with the Keras model on; noise by default.
        xla_batches: batch sizes to compile a `serving_xla_<size>` for.
    """
    path, graph = Path(path), float32_model(model)
    functions, left_out = signatures(graph, xla_batches)
    with tempfile.TemporaryDirectory() as folder:
        module = tf.Module()
        # The weights alone: tracking the Keras model would save its layers' own functions too,
        # and need keras_vit to load.
        module.weights = [weight.value for weight in graph.weights]
        module.assets = [
            tf.saved_model.Asset(_written(Path(folder) / name, text))
            for name, text in texts(model.preprocessing).items()
        ]
        tf.saved_model.save(module, str(path), signatures=functions)
    if CLASSIFY in functions:
        _name_method(path)
    parity = measured(graph, path, images)
    write_warmup(path / RECORDS, model.name, model.preprocessing, functions)
    _written(path / BATCHING, batching_parameters(BATCH_SIZES))
    write_card(path, card(graph, path, left_out, BATCH_SIZES, parity))


def _name_method(path):
    """Tells TF Serving's Classify which signature is meant for it."""
    updater = tf.compat.v1.saved_model.signature_def_utils.MethodNameUpdater(str(path))
    updater.replace_method_name(CLASSIFY, CLASSIFY_METHOD, tags="serve")
    updater.save()


def _written(path, text):
    path.write_text(text, "utf-8")
    return str(path)
