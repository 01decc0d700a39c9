"""How good a model's features are, whatever its head."""

import dataclasses

import numpy as np

from keras_vit.data import Classes
from keras_vit.explain import pooled_features
from keras_vit.training.few_shot import best, few_shot
from keras_vit.training.knn import knn
from keras_vit.training.probe import linear_probe


@dataclasses.dataclass(frozen=True)
class Measured:
    """Features and classes of images.

    Args:
        features: `[n, width]`.
        labels: int `[n]`.
    """

    features: np.ndarray
    labels: np.ndarray


def evaluate_features(model, train, test, by, batch_size=64):
    """Measures what can be told from a Keras model's pooled features.

    Args:
        model: a Keras model of this package; its head is not used.
        train: `Records` with a class an image, to learn from.
        test: `Records` to measure on.
        by: a key of `MEASURES`.
        batch_size: images a call.

    Returns:
        A dict of plain numbers, ready for JSON: `by`, `accuracy` (0 to 1), how many images were
        learned from (`train_images`) and measured (`images`), and what else the measure tells.

    Raises:
        ValueError: for an unknown measure, or images without one class each.
    """
    if by not in MEASURES:
        raise ValueError(f"`by` must be one of {', '.join(MEASURES)}. Received: {by!r}.")
    for records in (train, test):
        if not isinstance(records.targets, Classes):
            raise ValueError(
                "Features are measured on images of one class each. "
                f"Received: {type(records.targets).__name__}."
            )
    parts = [
        Measured(pooled_features(model, records, batch_size), records.labels)
        for records in (train, test)
    ]
    return {
        "by": by,
        "train_images": len(train),
        "images": len(test),
        **MEASURES[by](*parts),
    }


def _knn(train, test):
    answers = knn(train.features, train.labels, test.features)
    return {"accuracy": float(np.mean(answers == test.labels))}


def _few_shot(train, test):
    found = few_shot(train.features, train.labels, test.features, test.labels)
    rows = [
        {"shots": count, "penalty": penalty, "accuracy": accuracy}
        for count, accuracies in found.items()
        for penalty, accuracy in [best(accuracies)]
    ]
    return {"accuracy": rows[-1]["accuracy"], "shots": rows}


def _linear(train, test):
    probe = linear_probe(train.features, train.labels)
    return {"accuracy": float(probe.score(test.features, test.labels))}


# Name -> (train, test), both `Measured`, to a dict with `accuracy`.
MEASURES = {"knn": _knn, "few-shot": _few_shot, "linear": _linear}
