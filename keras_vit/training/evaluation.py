"""How good a model is, by whatever runtime it runs in."""

import dataclasses

import numpy as np

from keras_vit.data import evaluation_batches


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What a model answered on labelled images.

    Args:
        logits: float32 `[n, num_classes]`.
        labels: int `[n]`, the true classes.
        class_names: names of the classes.
    """

    logits: np.ndarray
    labels: np.ndarray
    class_names: tuple

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

    def agreement(self, other):
        """Share of images on which `other` predicts the same class, 0 to 1."""
        return float(np.mean(self.predictions == other.predictions))


def evaluate(predictor, records, batch_size=64, progress=None):
    """Runs a predictor over labelled images.

    Args:
        predictor: from `keras_vit.runtime.open`.
        records: from `keras_vit.data.open_data`.
        batch_size: images a call.
        progress: called with the number of images of each batch done, or None.

    Returns:
        An `Evaluation`.

    Raises:
        ValueError: if the classes of the model and of the data are not the same.
    """
    check_classes(predictor.class_names, records.class_names)
    logits, labels = [], []
    for pixels, classes in evaluation_batches(records, predictor.preprocessing, batch_size):
        logits.append(predictor.logits(pixels.numpy()))
        labels.append(classes.numpy())
        if progress:
            progress(len(labels[-1]))
    return Evaluation(np.concatenate(logits), np.concatenate(labels), records.class_names)


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
