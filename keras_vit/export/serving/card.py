"""`SERVING.json`: what an artefact promises, in words that a program can hold it to."""

import dataclasses
import hashlib
import json

import keras
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from keras_vit.version import __version__

CARD = "SERVING.json"
# TensorFlow's own signature, by which assets are put in place.
INITIALISE = "__saved_model_init_op"
# What values mean that a dtype and a shape do not tell.
RANGES = {
    "images": "raw pixels, 0 to 255",
    "image_bytes": "JPEG, PNG, GIF, BMP or WebP files",
    "inputs": "serialised tf.Example with the bytes feature `image/encoded`",
    "probabilities": "0 to 1",
    "scores": "0 to 1, falling",
    "attention": "0 to 1, maps sum to 1",
    "classes": "class numbers; -1 where nothing could be read (class names for classify)",
    "error": "empty where the image could be read",
}


def card(model, folder, left_out, batch_sizes, parity):
    """Returns the card of an artefact, without the checksums.

    Args:
        model: the Keras model with its `preprocessing`.
        folder: the artefact.
        left_out: dict of signature name to the reason why it is not there.
        batch_sizes: the sizes that the warm-up holds.
        parity: `Agreement` with the Keras model on the images of the probe.
    """
    preprocessing = model.preprocessing
    return {
        "format": 1,
        "model": model.name,
        "takes": takes(preprocessing),
        "signatures": contract(folder),
        "left_out": left_out,
        "batch_sizes": list(batch_sizes),
        "preprocessing": json.loads(preprocessing.to_json()),
        "labels": "assets/labels.txt",
        "parity": dataclasses.asdict(parity),
        "versions": {
            "keras_vit": __version__,
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
        },
    }


def takes(preprocessing):
    """Says in words what an artefact takes."""
    if not preprocessing.frames:
        return "images"
    apart = f"{preprocessing.stride} frames of the video apart"
    return f"clips of {preprocessing.frames} frames, {apart}"


def checksums(folder):
    """Returns the SHA-256 of every file below a folder but the card, by its path in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CARD)
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def write_card(folder, contents):
    """Writes the card with the checksums of all that lies in the folder."""
    text = json.dumps({**contents, "files": checksums(folder)}, indent=2, ensure_ascii=False)
    (folder / CARD).write_text(text + "\n", "utf-8")


def contract(folder):
    """Returns the signatures of a SavedModel as its file states them.

    Args:
        folder: the SavedModel.

    Returns:
        A dict of name to a dict: the `method` by which TF Serving calls it, and `inputs` and
        `outputs` by name, each with `dtype`, `shape` (None for the batch) and, where those do not
        tell, `values`.

    Raises:
        ValueError: if the file is damaged.
    """
    saved = saved_model_pb2.SavedModel()
    try:
        saved.ParseFromString((folder / "saved_model.pb").read_bytes())
        (graph,) = saved.meta_graphs
    except Exception as error:  # protobuf's error, which is of several types, or no graph
        raise ValueError(f"{folder / 'saved_model.pb'} is damaged: {error}") from error
    return {
        name: {
            "method": definition.method_name,
            "inputs": _forms(definition.inputs),
            "outputs": _forms(definition.outputs),
        }
        for name, definition in sorted(graph.signature_def.items())
        if name != INITIALISE
    }


def _forms(infos):
    return {name: _form(name, info) for name, info in sorted(infos.items())}


def _form(name, info):
    shape = [None if side.size < 0 else side.size for side in info.tensor_shape.dim]
    form = {"dtype": tf.as_dtype(info.dtype).name, "shape": shape}
    return {**form, "values": RANGES[name]} if name in RANGES else form
