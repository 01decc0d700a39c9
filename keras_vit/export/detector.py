"""Writes a detector as a SavedModel, with suppression inside, or as a `.tflite` file, without."""

import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from keras_vit.data.box_batches import unfit_boxes
from keras_vit.data.decode import decode, fit
from keras_vit.export import conversion
from keras_vit.export.audit import audit
from keras_vit.export.serving.graph import float32_model
from keras_vit.files import replacing
from keras_vit.layers.anchors import boxes_of_deltas
from keras_vit.layers.extras import require
from keras_vit.models import Detector
from keras_vit.runtime.detections import CANDIDATES, LEAST_SCORE, MOST, SAME
from keras_vit.runtime.detector import RAW, open_detector
from keras_vit.runtime.embedded import embed, texts
from keras_vit.runtime.tflite import SIGNATURE

# Profile -> precision of the file. Integers are left out: 32-bit floats of boxes and scores in one
# tensor each would get one scale.
TFLITE = {"float32": "float32", "cpu": "dynamic_int8", "gpu": "float16"}
# Largest difference of a box, in shares of the image, or of a score from the Keras model's.
BOUNDS = {"server": 1e-3, "float32": 1e-3, "cpu": 0.1, "gpu": 0.03}


def export_detector(model, profile, path):
    """Exports a detector; it takes raw pixels 0 to 255, `images`, float32 `[b, h, w, c]`.

    As a SavedModel (`"server"`) it has three signatures. `serving_default` gives what is found
    after non-maximum suppression of each class, the surest first, at most 100 a picture: `boxes`
    `[b, 100, 4]` (left, top, right, bottom in shares of the image), `labels` int32 and `scores`
    `[b, 100]`, and `count` `[b]`; what is beyond the count is zero. `serving_bytes` takes
    `image_bytes`, encoded pictures `[b]`, and gives the same, in shares of those pictures. `raw`
    gives `boxes` `[b, n, 4]` and `scores` `[b, n, num_classes]` of all anchors.

    A `.tflite` file takes one picture and gives what `raw` gives: the boxes are decoded, nothing
    is suppressed (TFLite has an operator for it that is custom, and that browsers and many
    runtimes lack). `keras_vit.runtime.detections.detections` is that last step.

    What is written is opened and compared with the model before it gets its name.

    Args:
        model: a `Detector`.
        profile: `"server"`, or one of `TFLITE`.
        path: the folder, or the `.tflite` file, to write.

    Returns:
        `path`.

    Raises:
        TypeError: for another model.
        ValueError: for another profile, or if what was written answers otherwise.
    """
    if not isinstance(model, Detector):
        raise TypeError(f"`model` must be a Detector. Received: {type(model).__name__}.")
    if profile not in BOUNDS:
        raise ValueError(
            f"`profile` of a detector must be one of {', '.join(BOUNDS)}. Received: {profile!r}."
        )
    path = Path(path)
    if (path.suffix == ".tflite") != (profile in TFLITE):
        kind = "a file that ends in `.tflite`" if profile in TFLITE else "a folder"
        raise ValueError(f"`path` must be {kind} for `{profile}`. Received: {path}.")
    if profile in TFLITE:
        require("ai_edge_litert.interpreter", extra="edge")
    with replacing(path) as temporary:
        if profile in TFLITE:
            _write_tflite(float32_model(model), temporary, TFLITE[profile])
        else:
            _write_saved_model(float32_model(model), temporary)
        _compare(model, temporary, BOUNDS[profile])
    return path


def _raw(model):
    """A function from raw pixels to boxes and scores of all anchors."""
    anchors = model.anchors

    def raw(images):
        outputs = model(model.preprocessing.normalize(images), training=False)
        boxes = boxes_of_deltas(outputs["deltas"], anchors)
        return {"boxes": boxes, "scores": keras.ops.sigmoid(outputs["logits"])}

    return raw


def suppressed(boxes, scores):
    """Returns what is found, as the signature `serving_default` gives it.

    Args:
        boxes: `[b, n, 4]`.
        scores: `[b, n, num_classes]`.
    """
    found = tf.image.combined_non_max_suppression(
        tf.expand_dims(boxes, 2),
        scores,
        max_output_size_per_class=min(MOST, CANDIDATES),
        max_total_size=MOST,
        iou_threshold=SAME,
        score_threshold=LEAST_SCORE,
        clip_boxes=False,
    )
    return {
        "boxes": found.nmsed_boxes,
        "labels": tf.cast(found.nmsed_classes, tf.int32),
        "scores": found.nmsed_scores,
        "count": found.valid_detections,
    }


def _write_saved_model(model, path):
    raw, preprocessing = _raw(model), model.preprocessing
    shape = (None, *preprocessing.image_size, preprocessing.channels)
    pixels = [tf.TensorSpec(shape, tf.float32, name="images")]
    raw_signature = tf.function(raw, input_signature=pixels, autograph=False)

    @tf.function(input_signature=pixels, autograph=False)
    def serve(images):
        return suppressed(**raw(images))

    def fitted(encoded):
        image = decode(encoded, preprocessing.channels)
        return fit(image, preprocessing), tf.shape(image)[:2]

    def moved(arguments):
        boxes, size = arguments
        return tf.clip_by_value(unfit_boxes(boxes, size, preprocessing), 0.0, 1.0)

    kinds = (tf.TensorSpec(shape[1:], tf.float32), tf.TensorSpec([2], tf.int32))

    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, name="image_bytes")], autograph=False
    )
    def serve_bytes(image_bytes):
        images, sizes = tf.map_fn(fitted, image_bytes, fn_output_signature=kinds)
        found = suppressed(**raw(images))
        boxes = tf.map_fn(moved, (found["boxes"], sizes), fn_output_signature=tf.float32)
        real = tf.sequence_mask(found["count"], MOST)[..., None]
        return {**found, "boxes": tf.where(real, boxes, 0.0)}

    with tempfile.TemporaryDirectory() as folder:
        module = tf.Module()
        # The weights alone, as in every SavedModel of ours: it needs no keras_vit to load.
        module.weights = [weight.value for weight in model.weights]
        module.assets = []
        for name, text in texts(preprocessing).items():
            (Path(folder) / name).write_text(text, "utf-8")
            module.assets.append(tf.saved_model.Asset(str(Path(folder) / name)))
        signatures = {SIGNATURE: serve, "serving_bytes": serve_bytes, RAW: raw_signature}
        tf.saved_model.save(module, str(path), signatures=signatures)


def _write_tflite(model, path, precision):
    raw, preprocessing = _raw(model), model.preprocessing
    shape = (1, *preprocessing.image_size, preprocessing.channels)
    pixels = [tf.TensorSpec(shape, tf.float32, name="images")]
    module = tf.Module()
    module.weights = [weight.value for weight in model.weights]
    with tempfile.TemporaryDirectory() as folder:
        serve = tf.function(raw, input_signature=pixels, autograph=False)
        tf.saved_model.save(module, folder, signatures={SIGNATURE: serve})
        conversion.convert(folder, precision, path)
    if audit(path).custom:
        raise ValueError(
            f"{model.name} needs operators that stock runtimes lack: {audit(path).custom}."
        )
    embed(path, preprocessing)


def _compare(model, path, bound):
    size = (2, *model.preprocessing.image_size, model.preprocessing.channels)
    pixels = np.random.default_rng(0).integers(0, 256, size).astype("float32")
    answers = zip(
        open_detector(path).answers(pixels), open_detector(model).answers(pixels), strict=True
    )
    apart = max(float(np.abs(theirs - ours).max()) for theirs, ours in answers)
    if not apart <= bound:
        raise ValueError(
            "The export was refused and nothing was written: its boxes or scores are up to "
            f"{apart:.2g} off, at most {bound:.2g}."
        )
