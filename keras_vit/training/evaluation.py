"""How good a model is, by whatever runtime it runs in."""

import dataclasses
import time

import numpy as np

from keras_vit.data import Classes, Tags, evaluation_batches
from keras_vit.data.clips import evaluation_clips
from keras_vit.runtime import softmax
from keras_vit.training.calibration import expected_calibration_error, reliability
from keras_vit.training.inputs import CLIPS, IMAGES
from keras_vit.training.multi_label import TagEvaluation


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What a model answered on labelled images.

    Args:
        logits: float32 `[n, num_classes]`.
        labels: int `[n]`, the true classes.
        class_names: names of the classes.
        images_per_second: how many images the model did, without reading and decoding them.
    """

    logits: np.ndarray
    labels: np.ndarray
    class_names: tuple
    images_per_second: float | None = None

    @property
    def predictions(self):
        """The class of the largest logit, `[n]`."""
        return self.logits.argmax(axis=1)

    @property
    def accuracy(self):
        """Share of images whose largest logit is the true class, 0 to 1."""
        return float(np.mean(self.predictions == self.labels))

    def top(self, k):
        """Share of images whose true class is among the `k` largest logits, 0 to 1."""
        true = np.take_along_axis(self.logits, self.labels[:, None], axis=1)
        return float(np.mean((self.logits > true).sum(axis=1) < k))

    @property
    def loss(self):
        """Mean cross-entropy in nats."""
        x = self.logits.astype("float64")
        x -= x.max(axis=1, keepdims=True)
        true = np.take_along_axis(x, self.labels[:, None], axis=1)[:, 0]
        return float(np.mean(np.log(np.exp(x).sum(axis=1)) - true))

    @property
    def confusion(self):
        """Counts `[num_classes, num_classes]`: row the true class, column the predicted."""
        size = self.logits.shape[1]
        counts = np.bincount(self.labels * size + self.predictions, minlength=size * size)
        return counts.reshape(size, size)

    @property
    def reliability(self):
        """How often it was right by how sure it was: see `keras_vit.training.calibration`."""
        return reliability(softmax(self.logits.astype("float64")), self.labels)

    @property
    def calibration_error(self):
        """Expected calibration error over 15 bins, 0 to 1."""
        return expected_calibration_error(self.reliability)

    @property
    def per_class(self):
        """A list of dicts, one a class: `name`, `images`, `recall`, `precision` and `f1`.

        None stands where there is nothing to divide by.
        """
        from sklearn.metrics import precision_recall_fscore_support

        numbers = precision_recall_fscore_support(
            self.labels,
            self.predictions,
            labels=np.arange(self.logits.shape[1]),
            zero_division=np.nan,
        )
        return [
            {
                "name": name,
                "images": int(images),
                "recall": _or_none(recall),
                "precision": _or_none(precision),
                "f1": _or_none(f1),
            }
            for name, precision, recall, f1, images in zip(self.class_names, *numbers, strict=True)
        ]

    def summary(self):
        """Returns plain numbers, ready for JSON.

        Returns:
            A dict: `images`, `accuracy`, `top5`, `loss`, `calibration_error`, `reliability` (a
            list of dicts, see `keras_vit.training.calibration.Bin`), `images_per_second`,
            `classes` (as `per_class`) and `confusion` (row the true class).
        """
        bins = self.reliability
        return {
            "images": len(self.labels),
            "accuracy": self.accuracy,
            "top5": self.top(5),
            "loss": self.loss,
            "calibration_error": expected_calibration_error(bins),
            "reliability": [dataclasses.asdict(part) for part in bins],
            "images_per_second": self.images_per_second,
            "classes": self.per_class,
            "confusion": self.confusion.tolist(),
        }

    def agreement(self, other):
        """Share of images on which `other` predicts the same class, 0 to 1."""
        return float(np.mean(self.predictions == other.predictions))


def evaluate(predictor, records, batch_size=64, progress=None, clips=1):
    """Runs a predictor over labelled images, or videos where it takes clips.

    Args:
        predictor: from `keras_vit.runtime.open`.
        records: from `keras_vit.data.open_data`.
        batch_size: images a call.
        progress: called with the number of images of each batch done, or None.
        clips: of each video how many clips are looked at; the logits are then the logarithm of
            the mean of their probabilities.

    Returns:
        An `Evaluation`, or a `TagEvaluation` where an image may have several classes.

    Raises:
        ValueError: if the classes of the model and of the data are not the same, or the images
            have none; or for images where the model takes clips, and the reverse.
    """
    preprocessing = predictor.preprocessing
    (CLIPS if preprocessing.frames else IMAGES).check(records)
    kind = EVALUATIONS.get(type(records.targets))
    if kind is None:
        raise ValueError(
            "Images with a class, or with tags, are needed to measure a model. "
            f"Received: {type(records.targets).__name__}."
        )
    check_classes(predictor.class_names, records.class_names)
    logits, labels, seconds = [], [], []
    if preprocessing.frames:
        batches, answer = evaluation_clips(records, preprocessing, batch_size, clips), _of_videos
    else:
        batches, answer = evaluation_batches(records, preprocessing, batch_size), _of_images
    for pixels, classes in batches:
        pixels = pixels.numpy()
        start = time.perf_counter()
        logits.append(answer(predictor, pixels))
        seconds.append(time.perf_counter() - start)
        labels.append(classes.numpy())
        if progress:
            progress(len(labels[-1]))
    return kind(
        np.concatenate(logits),
        np.concatenate(labels),
        records.class_names,
        _images_per_second(list(map(len, labels)), seconds),
    )


def _of_images(predictor, pixels):
    return predictor.logits(pixels)


def _of_videos(predictor, pixels):
    """The logits of videos from those of their clips, `[b, clips, frames, h, w, c]`."""
    videos, clips = pixels.shape[:2]
    logits = predictor.logits(pixels.reshape(-1, *pixels.shape[2:]))
    if clips == 1:
        return logits
    probabilities = predictor.probabilities(logits.astype("float64"))
    return np.log(probabilities.reshape(videos, clips, -1).mean(axis=1)).astype("float32")


# Kind of the targets -> what is measured.
EVALUATIONS = {Classes: Evaluation, Tags: TagEvaluation}


def check_classes(model_names, data_names):
    """Checks that a model's class names are those of the data, in the same order.

    Raises:
        ValueError: if they differ; names the first difference.
    """
    if tuple(model_names) == tuple(data_names):
        return
    if set(model_names) == set(data_names):
        raise ValueError("The classes of the model and of the data come in another order.")
    missing = [name for name in data_names if name not in model_names]
    first = missing[0] if missing else next(n for n in model_names if n not in data_names)
    where = "model" if missing else "data"
    raise ValueError(
        f"The model has {len(model_names)} classes and the data {len(data_names)}, and they are "
        f"not the same: the {where} has no class {first!r}."
    )


def _images_per_second(counts, seconds):
    """Without the first batch, which compiles, where there are others."""
    after = slice(1 if len(counts) > 1 else 0, None)
    return sum(counts[after]) / sum(seconds[after])


def _or_none(share):
    return None if np.isnan(share) else float(share)
