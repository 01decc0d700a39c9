"""From a Keras model to an artefact that was checked before it is kept."""

import dataclasses
import functools
from pathlib import Path

import keras
import numpy as np

from keras_vit import runtime
from keras_vit.export.agreement import agreement
from keras_vit.export.audit import audit, complaints
from keras_vit.export.calibration import calibration_images, random_images, spread
from keras_vit.export.lint import lint
from keras_vit.export.onnx import write_onnx
from keras_vit.export.profiles import profile_named
from keras_vit.export.qat.exporting import with_learned_ranges
from keras_vit.export.refused import Refused
from keras_vit.export.rewrite import inference_model
from keras_vit.export.saved_model import write_saved_model
from keras_vit.export.serving.versions import version_folder
from keras_vit.export.tflite import write_tflite
from keras_vit.files import replacing
from keras_vit.layers.choices import check_choice
from keras_vit.layers.extras import require
from keras_vit.runtime.embedded import embed_parity
from keras_vit.runtime.tensorrt import ROAD

FORMATS = {"saved_model": write_saved_model, "tflite": write_tflite, "onnx": write_onnx}
# What a format is written and checked with, as (module, extra).
NEEDS = {
    "saved_model": (),
    "tflite": (("ai_edge_litert.interpreter", "edge"),),
    "onnx": (("onnx", "onnx"), ("tf2onnx", "onnx"), ("onnxruntime", "onnx")),
}
# Endings that a folder must not have: `runtime.open` goes by them.
FILES = (".tflite", ".keras", ".onnx")
# Images that an artefact is compared on: a large model in full int8 takes a second for each.
CHECKED = 32


def export(model, profile, path, calibration=None, xla_batches=()):
    """Exports a model for inference.

    The artefact takes raw pixels 0 to 255 at the model's size: normalisation is inside, and so
    are the class names and the rest of the preprocessing. A mixed-precision model is exported in
    float32. What is written is opened by its own runtime, inspected and compared with the model
    before it gets its name; an artefact that was there stays until then.

    Args:
        model: a ViT of `create_model`, or a functional Keras model built in the same way, with a
            `preprocessing`.
        profile: name in `PROFILES`, or a `Profile`.
        path: what to write: for `"server"` the model's folder, which gets its next version 1, 2,
            ..., or a new version `NAME/3`; else a file that ends in `.tflite`, or in `.onnx` for
            `"onnx"`. Missing parent folders are made.
        calibration: images for the profiles with calibrated ranges, which need some hundred; see
            `calibration_images`. Where given, the artefact is compared on them, else on noise.
        xla_batches: for `"server"`, batch sizes to give a `serving_xla_<size>` each, compiled by
            XLA when it is first called.

    Returns:
        What was written, as a `pathlib.Path`: the file, or the folder of the version.

    Raises:
        ValueError: for an unknown profile, missing or wrong calibration images, a model that
            cannot be exported, or an artefact that is not good enough (`Refused`, with the
            linter's verdict where the profile names a device).
        OSError: if the folder cannot be written.
        ImportError: if the profile's runtime is not installed; the message names the extra.

    Example:

    >>> from keras_vit import create_model
    >>> model = create_model("vit_ti16", image_size=32, depth=1, num_classes=10)
    >>> export(model, "float32", "vit.tflite").name
    'vit.tflite'
    """
    if profile == "tensorrt":
        raise ValueError(f"`profile` must be one that can be written here. {ROAD}")
    profile, path = with_learned_ranges(model, profile_named(profile)), Path(path)
    _check_request(model, profile, path, calibration)
    write = FORMATS[profile.format]
    if xla_batches:
        write = functools.partial(write, xla_batches=_checked_batches(xla_batches, profile))
    if not profile.ending:
        path = version_folder(path)
    with replacing(path) as temporary:  # first of all: it finds out whether the folder is writable
        images = None
        if calibration is not None:
            images = calibration_images(calibration, model.preprocessing)
        write(model, temporary, profile, images)
        _accept(model, profile, temporary, images)
        if not profile.ending:
            version_folder(path)  # another export may have taken the number meanwhile
    return path


def _check_request(model, profile, path, calibration):
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "Export needs Keras's TensorFlow backend: set KERAS_BACKEND=tensorflow and load the "
            f"model again. Received: KERAS_BACKEND={keras.backend.backend()}."
        )
    if getattr(model, "preprocessing", None) is None:
        raise ValueError(
            "`model` must be a Keras model with a `preprocessing`, as `create_model` gives it. "
            f"Received: {type(model).__name__}."
        )
    shape = getattr(model, "output_shape", (None, None))
    if len(shape) != 2:
        raise ValueError(
            f"`model` must give one vector an image, [b, num_classes]. Received: {shape}."
        )
    check_choice("profile.format", profile.format, FORMATS)
    if profile.calibrated and calibration is None:
        raise ValueError(
            f"The profile `{profile.name}` needs `calibration`: some hundred images like those "
            "the model will see. Received: None."
        )
    if path.suffix != profile.ending if profile.ending else path.suffix in FILES:
        kind = f"a file that ends in `{profile.ending}`" if profile.ending else "a folder"
        raise ValueError(f"`path` must be {kind} for `{profile.name}`. Received: {path}.")
    if profile.ending and path.exists() and not path.is_file():
        raise ValueError(
            f"`path` must not be something that the export would destroy. Received: {path}, "
            "which is no earlier export."
        )
    for module, extra in NEEDS[profile.format]:
        require(module, extra=extra)


def _checked_batches(sizes, profile):
    sizes = tuple(sizes)
    if profile.format != "saved_model" or not all(isinstance(n, int) and n > 0 for n in sizes):
        raise ValueError(
            "`xla_batches` must be batch sizes, for the profile `server`. "
            f"Received: xla_batches={sizes}, profile={profile.name}."
        )
    return sizes


def _accept(model, profile, path, images):
    """Refuses an artefact that is not what the profile promises."""
    wrong = complaints(audit(path), profile) if profile.format == "tflite" else []
    verdict = lint(path, profile.device) if profile.device else None
    if verdict is not None and not verdict.passes:
        wrong.append(f"no device that takes all of it ({str(verdict).rstrip('.')})")
    if not wrong:
        if images is None:
            images = random_images(model.preprocessing)
        images = np.round(images[spread(len(images), CHECKED)])  # as integer inputs see them
        reference, logits = _reference(model, images), runtime.open(path).logits(images)
        if not np.isfinite(logits).all():
            wrong.append("logits that are not finite numbers")
        else:
            found = agreement(reference, logits)
            broken = profile.bound.broken_by(found)
            wrong += (
                [f"too little agreement with the model ({', '.join(broken)})"] if broken else []
            )
            if profile.format == "tflite" and not broken:
                embed_parity(path, **dataclasses.asdict(found))
    if wrong:
        raise Refused(
            f"The export for `{profile.name}` was refused and nothing was written. "
            f"It has {'; '.join(wrong)}.",
            verdict,
        )


def _reference(model, images):
    """The logits that the artefact is held to: of the model itself, or of its float32 twin."""
    normalised = model.preprocessing.normalize(images)
    if any(layer.compute_dtype != "float32" for layer in model.layers):
        model = inference_model(model)
    batches = [model(normalised[i : i + 8], training=False) for i in range(0, len(images), 8)]
    return np.concatenate([keras.ops.convert_to_numpy(batch) for batch in batches])
