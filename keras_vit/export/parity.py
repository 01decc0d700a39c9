"""The same picture files through every format of a model, side by side."""

import contextlib
import dataclasses
import functools
import statistics
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

from keras_vit import runtime
from keras_vit.data import Classes
from keras_vit.data.decode import decode, fit
from keras_vit.export.calibration import spread
from keras_vit.export.exporter import export
from keras_vit.export.profiles import PROFILES
from keras_vit.export.web.browser import page_in_chromium
from keras_vit.export.web.page import write_page
from keras_vit.layers.choices import check_choice

# Images of which one is timed at a time.
TIMED = 20
# TFLite profiles. The Edge TPU's is left out: it writes nothing that would not map.
TFLITE = tuple(
    name for name, one in PROFILES.items() if one.format == "tflite" and name != "edgetpu"
)


@dataclasses.dataclass(frozen=True)
class Row:
    """One format.

    Args:
        name: such as `"npu"`.
        top1: share of the images with the Keras model's best class, 0 to 1; None if it did not
            run.
        difference: largest difference of a logit.
        milliseconds: median for one image, from pixels to logits; where the format decodes
            itself, from a file's bytes, and for the browser with the driving of it.
        size_bytes: of the artefact.
        accuracy: share of the images with the right class, or None without labels.
        reason: why it did not run, or None.
    """

    name: str
    top1: float | None = None
    difference: float | None = None
    milliseconds: float | None = None
    size_bytes: int | None = None
    accuracy: float | None = None
    reason: str | None = None


def _file(profile, ending):
    """An artefact in its own runtime, from pixels that Python decoded."""

    @contextlib.contextmanager
    def opened(exports):
        predictor = runtime.open(exports(profile, ending))
        yield predictor.size_bytes, lambda pixels, encoded: predictor.logits(pixels[None])

    return opened


@contextlib.contextmanager
def _saved_model_bytes(exports):
    """The SavedModel, from the file's bytes, which it decodes."""
    predictor = runtime.open(exports("server", ""))
    serve = tf.saved_model.load(str(predictor.path)).signatures["serving_bytes"]
    answer = lambda encoded: serve(image_bytes=tf.constant([encoded]))["logits"]  # noqa: E731
    yield predictor.size_bytes, lambda pixels, encoded: answer(encoded).numpy()


@contextlib.contextmanager
def _openvino(exports):
    """The SavedModel in OpenVINO."""
    from keras_vit.runtime.openvino import OpenVINO

    predictor = OpenVINO(runtime.open(exports("server", "")))
    yield predictor.size_bytes, lambda pixels, encoded: predictor.logits(pixels[None])


@contextlib.contextmanager
def _browser(exports):
    """The page, in Chromium, from the file's bytes, which the browser decodes and resizes."""
    page = write_page(exports.model, exports.folder / "page")
    with page_in_chromium(page, "dynamic") as look:
        size = (page / "dynamic.tflite").stat().st_size
        yield size, lambda pixels, encoded: np.array([look(encoded)["logits"]], "float32")


# name -> context manager from `_Exports` to (bytes, function from (pixels of one image, its file's
# bytes) to logits `[1, num_classes]`)
FORMATS = {
    "saved_model": _file("server", ""),
    "saved_model_bytes": _saved_model_bytes,
    **{name: _file(name, ".tflite") for name in TFLITE},
    "onnx": _file("onnx", ".onnx"),
    "openvino": _openvino,
    "browser": _browser,
}


def parity(model, records, folder, formats=tuple(FORMATS), limit=64, progress=None):
    """Exports a model to every format and runs the same picture files through each.

    Args:
        model: a Keras model with a `preprocessing`.
        records: `Records`; at most `limit` of them are compared, at even distances, and the
            profiles with calibrated ranges are calibrated on them all.
        folder: where the artefacts are written, and left.
        formats: keys of `FORMATS`.
        limit: number of images.
        progress: function that is told each format's name before its work, or None.

    Returns:
        A list of `Row`s. The first is the Keras model itself. A format that was refused, or
        whose package is not installed, says why.

    Raises:
        ValueError: for an unknown format, or records without an image.
    """
    for name in formats:
        check_choice("formats", name, FORMATS)
    if not len(records):
        raise ValueError("`records` must hold at least one image. Received: none.")
    chosen = records.select(spread(len(records), limit))
    encoded = [chosen.read(index) for index in range(len(chosen))]
    pixels = _pixels(encoded, model.preprocessing)
    labels = chosen.targets.labels if isinstance(chosen.targets, Classes) else None
    exports = _Exports(model, Path(folder), records)
    keras_model = runtime.open(model)
    reference = keras_model.logits(pixels)
    measure = functools.partial(_row, pixels, encoded, reference, labels)
    rows = [measure("keras", keras_model.size_bytes, lambda one, _: keras_model.logits(one[None]))]
    for name in formats:
        if progress:
            progress(name)
        try:
            with FORMATS[name](exports) as (size, call):
                rows.append(measure(name, size, call))
        except (ValueError, ImportError, OSError) as error:
            rows.append(Row(name, reason=" ".join(str(error).split())))
    return rows


class _Exports:
    """Artefacts of one model, each written when it is first asked for."""

    def __init__(self, model, folder, records):
        self.model, self.folder, self.records, self.paths = model, folder, records, {}

    def __call__(self, profile, ending):
        if profile not in self.paths:
            path = self.folder / f"{profile}{ending}"
            self.paths[profile] = export(self.model, profile, path, self.records)
        return self.paths[profile]


def _pixels(encoded, preprocessing):
    images = [fit(decode(one, preprocessing.channels), preprocessing) for one in encoded]
    return np.stack([np.asarray(image, "uint8") for image in images])


def _row(pixels, encoded, reference, labels, name, size, call):
    pairs = list(zip(pixels, encoded, strict=True))
    logits = np.concatenate([call(*pair) for pair in pairs])  # also warms up
    seconds = []
    for pair in pairs[:TIMED]:
        start = time.perf_counter()
        call(*pair)
        seconds.append(time.perf_counter() - start)
    best = logits.argmax(axis=-1)
    return Row(
        name,
        top1=float((best == reference.argmax(axis=-1)).mean()),
        difference=float(np.abs(logits - reference).max()),
        milliseconds=1000 * statistics.median(seconds),
        size_bytes=size,
        accuracy=None if labels is None else float((best == np.asarray(labels)).mean()),
    )
