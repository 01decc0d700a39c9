"""Each measure on a model's features, against the measure itself."""

import numpy as np
import pytest

from keras_vit.data import from_arrays
from keras_vit.explain import pooled_features
from keras_vit.training.feature_evaluation import MEASURES, Measured, evaluate_features
from keras_vit.training.few_shot import few_shot
from keras_vit.training.knn import knn
from keras_vit.training.probe import linear_probe
from tests.small_vit import digit_images, small_vit


@pytest.fixture(scope="module")
def parts():
    """(model, training records, training features, the same of the test images)."""
    pixels, labels = digit_images()
    names = tuple(str(number) for number in range(10))
    records = [
        from_arrays(pixels[chosen], labels[chosen], names)
        for chosen in (slice(300), slice(300, 400))
    ]
    model = small_vit()
    return model, *records, *(Measured(pooled_features(model, r), r.labels) for r in records)


def expected(by, train, test):
    features, labels, queries, truth = train.features, train.labels, test.features, test.labels
    if by == "few-shot":
        return max(few_shot(features, labels, queries, truth)[25].values())
    if by == "knn":
        return np.mean(knn(features, labels, queries) == truth)
    return np.mean(linear_probe(features, labels).predict(queries) == truth)


@pytest.mark.parametrize("by", MEASURES)
def test_the_accuracy_is_that_of_the_measure(parts, by):
    *_, train, test = parts
    numbers = MEASURES[by](train, test)
    assert numbers["accuracy"] == pytest.approx(expected(by, train, test))
    assert 0.3 < numbers["accuracy"] < 1
    shots = [row["shots"] for row in numbers.get("shots", ())]
    assert shots == ([1, 5, 10, 25] if by == "few-shot" else [])


def test_the_features_are_the_models(parts):
    model, train, test, *features = parts
    numbers = evaluate_features(model, train, test, "knn")
    found = {"by": "knn", "train_images": 300, "images": 100, **MEASURES["knn"](*features)}
    assert numbers == found


def test_an_unknown_measure_and_images_without_classes(parts):
    model, train, *_ = parts
    with pytest.raises(ValueError, match="one of knn, few-shot, linear. Received: 'nn'"):
        evaluate_features(model, train, train, "nn")
    with pytest.raises(ValueError, match="one class each. Received: Unlabelled"):
        evaluate_features(model, train, from_arrays(np.zeros((2, 16, 16, 1), "uint8")), "knn")
