"""Runs a detector: a `.keras` file, a SavedModel, a `.tflite` file, or a model in memory."""

import json
import zipfile
from pathlib import Path

import keras
import numpy as np

from keras_vit.layers.anchors import boxes_of_deltas
from keras_vit.models import Detector
from keras_vit.runtime import saved_model, tflite
from keras_vit.runtime.detections import LEAST_SCORE, MOST, SAME, Detections, detections
from keras_vit.runtime.embedded import PREPROCESSING
from keras_vit.runtime.keras_file import KerasFile, compiled
from keras_vit.runtime.predictor import BATCH_SIZE, Predictor
from keras_vit.runtime.saved_model import newest_version

# The signature of a detector's SavedModel that gives all boxes and scores.
RAW = "raw"


class DetectorPredictor(Predictor):
    """A detector that takes raw pixels. `open_detector` makes one.

    A subclass sets `kind` and gives `_run`, from checked pixels to (boxes, scores).
    """

    def answers(self, pixels):
        """Returns what is said of every anchor.

        Args:
            pixels: raw pixels 0 to 255, `[b, h, w, c]` at the model's size.

        Returns:
            (boxes `[b, n, 4]` in shares of the image, probabilities `[b, n, num_classes]`).

        Raises:
            ValueError: for pixels of another shape or range.
        """
        pixels = self.checked(pixels)
        starts = range(0, len(pixels), BATCH_SIZE)
        parts = [self._run(pixels[start : start + BATCH_SIZE]) for start in starts]
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    def detect(self, pixels, least=LEAST_SCORE, same=SAME, most=MOST):
        """Returns what is in images, a list of `Detections`, in shares of `pixels`.

        Args:
            pixels: as in `answers`.
            least, same, most: as in `keras_vit.runtime.detections.detections`.
        """
        if not len(pixels):
            return []
        pairs = zip(*self.answers(pixels), strict=True)
        return [detections(boxes, scores, least, same, most) for boxes, scores in pairs]

    def detect_files(self, paths, least=LEAST_SCORE, same=SAME, most=MOST):
        """Returns what is in picture files, a list of `Detections`, in shares of the pictures.

        Args:
            paths: list of file names.
            least, same, most: as in `detect`.

        Raises:
            ValueError: for a file that is no picture.
            FileNotFoundError: for a file that is not there.
        """
        from keras_vit.data.box_batches import unfit_boxes

        found = []
        for path in paths:
            pixels, size = self.pixels_and_size(path)
            (one,) = self.detect(pixels[None], least, same, most)
            boxes = np.clip(unfit_boxes(one.boxes, size, self.preprocessing), 0.0, 1.0)
            found.append(Detections(boxes, one.labels, one.scores))
        return found

    def logits(self, pixels):
        raise ValueError("A detector says what is where, by `detect`: it has no logits of images.")


class KerasDetector(KerasFile, DetectorPredictor):
    """A `Detector` in a `.keras` file or in memory.

    Attributes:
        forward: function from normalised images to boxes and scores of all anchors, tensors.
    """

    def __init__(self, source):
        super().__init__(source)
        if not isinstance(self.model, Detector):
            raise ValueError(f"{source} is no detector, but a {type(self.model).__name__}.")
        anchors = self.model.anchors

        def forward(images):
            outputs = self.model(images, training=False)
            boxes = boxes_of_deltas(outputs["deltas"], anchors)
            return boxes, keras.ops.sigmoid(outputs["logits"])

        self.forward = compiled(forward)

    def _run(self, pixels):
        answers = self.forward(self.preprocessing.normalize(pixels))
        return tuple(keras.ops.convert_to_numpy(answer).astype("float32") for answer in answers)


class SavedModelDetector(DetectorPredictor):
    """A detector that `keras_vit.export.export_detector` wrote as a SavedModel."""

    kind = "saved_model"

    def __init__(self, path):
        preprocessing, self._loaded, size = saved_model.opened(path)
        if RAW not in self._loaded.signatures:
            raise ValueError(f"{path} is no detector: it has no signature {RAW!r}.")
        self._signature = self._loaded.signatures[RAW]
        super().__init__(Path(path), preprocessing, size)

    def _run(self, pixels):
        found = saved_model.called(self._signature, pixels)
        return found["boxes"], found["scores"]


class TFLiteDetector(DetectorPredictor):
    """A detector that `keras_vit.export.export_detector` wrote as a `.tflite` file."""

    kind = "tflite"

    def __init__(self, path, threads=None):
        preprocessing, self._interpreter, self._runner = tflite.opened(path, threads)
        if set(self._runner.get_output_details()) != {"boxes", "scores"}:
            raise ValueError(f"{path} is no detector: its outputs are not `boxes` and `scores`.")
        super().__init__(path, preprocessing, Path(path).stat().st_size)

    def _run(self, pixels):
        rows = [self._runner(images=image[None].astype("float32")) for image in pixels]
        return tuple(np.concatenate([row[name] for row in rows]) for name in ("boxes", "scores"))


def is_detector(model):
    """Tells whether what `open_detector` takes is a detector, without running it."""
    if isinstance(model, keras.Model):
        return isinstance(model, Detector)
    path = newest_version(Path(model))
    if path.suffix == ".keras" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            kind = json.loads(archive.read("config.json"))
        return kind.get("registered_name") == keras.saving.get_registered_name(Detector)
    if path.suffix == ".tflite" and path.is_file():
        # A flatbuffer's text: its length, four bytes, then the text and a zero.
        content = path.read_bytes()
        return all(
            len(name).to_bytes(4, "little") + name + b"\0" in content
            for name in (b"boxes", b"scores")
        )
    graph = path / "saved_model.pb"
    return graph.is_file() and b"CombinedNonMaxSuppression" in graph.read_bytes()


def open_detector(model):
    """Opens a detector.

    Args:
        model: a `.keras` file, a SavedModel folder or the folder of its versions, a `.tflite`
            file, or a `Detector` in memory.

    Returns:
        A `DetectorPredictor`: `.detect(pixels)`, `.detect_files(paths)`, `.answers(pixels)`,
        `.preprocessing`, `.class_names`, `.kind`, `.size_bytes`, `.path`.

    Raises:
        FileNotFoundError: if nothing is at the path.
        ValueError: if what is there is no detector.
        ImportError: if its runtime is not installed; the message names the extra.
    """
    if isinstance(model, keras.Model):
        return KerasDetector(model)
    path = newest_version(Path(model))
    if not path.exists():
        raise FileNotFoundError(f"There is no model at {path}.")
    if path.suffix == ".keras":
        return KerasDetector(path)
    if path.suffix == ".tflite":
        return TFLiteDetector(path)
    if (path / "saved_model.pb").is_file() and (path / "assets" / PREPROCESSING).is_file():
        return SavedModelDetector(path)
    raise ValueError(
        f"{path} is no detector. It must be a `.keras` or `.tflite` file, or a SavedModel folder."
    )
