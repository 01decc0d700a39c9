"""How good a detector is: COCO's mean average precision."""

import contextlib
import dataclasses
import io

import keras
import numpy as np

from keras_vit.data import Boxes
from keras_vit.data.box_batches import evaluation_boxes
from keras_vit.layers.extras import require
from keras_vit.runtime.detections import detections
from keras_vit.runtime.detector import open_detector
from keras_vit.training.evaluation import check_classes

# pycocotools wants pixels; what is small, medium or large depends on them, the mean does not.
SIDE = 1000


@dataclasses.dataclass(frozen=True)
class BoxEvaluation:
    """COCO's measures over a set of images.

    Args:
        class_names: names of the classes.
        precisions: float `[10, num_classes]`, the average precision of each class at an overlap
            of 0.5, 0.55, ... 0.95; -1 for classes of which there is no box.
        recall: share of the boxes that are found, with at most 100 detections an image, over the
            same overlaps.
        images: number of images.
        boxes: number of boxes of each class.
    """

    class_names: tuple
    precisions: np.ndarray
    recall: float
    images: int
    boxes: np.ndarray

    @property
    def mean_average_precision(self):
        """COCO's mAP: the mean over overlaps of 0.5 to 0.95 and over the classes."""
        return _mean(self.precisions)

    def at(self, overlap):
        """Returns the mean average precision at one overlap, such as 0.5."""
        return _mean(self.precisions[round((overlap - 0.5) / 0.05)])

    def summary(self):
        """Returns the numbers as a dict that JSON can hold."""
        rows = zip(self.class_names, self.boxes, self.precisions.T, strict=True)
        return {
            "images": self.images,
            "boxes": int(self.boxes.sum()),
            "mAP": self.mean_average_precision,
            "mAP50": self.at(0.5),
            "mAP75": self.at(0.75),
            "recall": self.recall,
            "classes": [
                {"name": name, "boxes": int(count), "mAP": _mean(own), "mAP50": _mean(own[0])}
                for name, count, own in rows
            ],
        }


def evaluate_boxes(predictor, records, batch_size=32):
    """Runs a detector over images with boxes, and measures it.

    Args:
        predictor: from `keras_vit.runtime.detector.open_detector`.
        records: `Records` with `Boxes`, such as `keras_vit.data.open_data` gives of a COCO file.
        batch_size: images a call.

    Returns:
        A `BoxEvaluation`. Boxes are compared as the model sees the images: with
        `resize="crop"`, without what is cut away.

    Raises:
        ValueError: if the classes of the model and of the data are not the same, or the images
            have no boxes.
    """
    if isinstance(records.targets, Boxes):
        check_classes(predictor.class_names, records.class_names)
    batches = evaluation_boxes(records, predictor.preprocessing, batch_size)
    detect = lambda pixels: predictor.detect(pixels.numpy())  # noqa: E731
    return box_evaluation(*_run(detect, batches, records.class_names))


class ValidationPrecision(keras.callbacks.Callback):
    """Puts COCO's mAP of what is held out, as `val_mAP`, into the logs of an epoch.

    Args:
        batches: function to a dataset of (normalised images, `boxes` and `labels`).
    """

    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def on_epoch_end(self, epoch, logs=None):
        forward = open_detector(self.model).forward

        def detect(images):
            answers = (keras.ops.convert_to_numpy(answer) for answer in forward(images))
            return [detections(*pair) for pair in zip(*answers, strict=True)]

        names = tuple(map(str, range(self.model.config.num_classes)))
        measured = box_evaluation(*_run(detect, self.batches(), names))
        logs["val_mAP"] = measured.mean_average_precision


def _run(detect, batches, class_names):
    """What a detector finds in batches of (images, targets), and the boxes of the targets."""
    found, boxes, labels = [], [], []
    for images, targets in batches:
        found += detect(images)
        boxes.append(targets["boxes"].numpy())
        labels.append(targets["labels"].numpy())
    return found, Boxes(class_names, np.concatenate(boxes), np.concatenate(labels))


def box_evaluation(found, targets):
    """Measures detections by pycocotools.

    Args:
        found: an iterable of `Detections`, one an image.
        targets: the `Boxes` of the images, in the same order and the same shares.

    Returns:
        A `BoxEvaluation`.

    Raises:
        ValueError: if there is not one for each image, or no image has a box.
        ImportError: if pycocotools is not installed.
    """
    coco = require("pycocotools.coco", extra="detection").COCO
    evaluation = require("pycocotools.cocoeval", extra="detection").COCOeval
    found = list(found)
    if len(found) != len(targets):
        raise ValueError(
            "`found` must have one for each image. "
            f"Received: {len(found)} for {len(targets)} images."
        )
    if not targets.class_sizes.sum():
        raise ValueError("There is no box in any of the images to measure by.")
    real = [labels >= 0 for labels in targets.labels]
    known = [
        row
        for image, kept in enumerate(real)
        for row in _rows(image, targets.boxes[image][kept], targets.labels[image][kept])
    ]
    said = [
        {**row, "score": float(score)}
        for image, one in enumerate(found)
        for row, score in zip(_rows(image, one.boxes, one.labels), one.scores, strict=True)
    ]
    with contextlib.redirect_stdout(io.StringIO()):  # pycocotools prints as it goes
        truth = coco()
        truth.dataset = _dataset(len(found), len(targets.class_names), known)
        truth.createIndex()
        answers = coco()
        answers.dataset = _dataset(len(found), len(targets.class_names), said)
        answers.createIndex()
        run = evaluation(truth, answers, "bbox")
        run.evaluate()
        run.accumulate()
    # [overlaps, recalls, classes, all areas, at most 100]
    precision = run.eval["precision"][:, :, :, 0, -1]
    return BoxEvaluation(
        targets.class_names,
        np.where((precision < 0).all(axis=1), -1.0, precision.mean(axis=1)),
        _mean(run.eval["recall"][:, :, 0, -1]),
        len(found),
        targets.class_sizes,
    )


def _rows(image, boxes, labels):
    for box, label in zip(np.asarray(boxes, "float64") * SIDE, labels, strict=True):
        left, top, right, bottom = box
        yield {
            "image_id": image + 1,
            "category_id": int(label) + 1,
            "bbox": [left, top, right - left, bottom - top],
            "area": (right - left) * (bottom - top),
            "iscrowd": 0,
        }


def _dataset(images, classes, rows):
    return {
        "images": [{"id": number + 1} for number in range(images)],
        "categories": [{"id": number + 1} for number in range(classes)],
        # pycocotools takes an annotation 0 for none.
        "annotations": [{"id": number + 1, **row} for number, row in enumerate(rows)],
    }


def _mean(precisions):
    """The mean of those that are known."""
    known = precisions[precisions >= 0]
    return float(known.mean()) if known.size else 0.0
