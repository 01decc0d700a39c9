"""mAP by bins against scikit-learn, in parts, and compiled."""

import numpy as np
import pytest
import tensorflow as tf
from sklearn.metrics import average_precision_score

from keras_vit.training.average_precision import MeanAveragePrecision


def scores(seed, images=97, classes=5):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size=(images, classes))
    return labels, rng.normal(2 * labels, 2).astype("float32")


def test_it_is_scikit_learns_for_logits_in_bins():
    labels, logits = scores(3)
    metric = MeanAveragePrecision(5)
    for part in np.array_split(np.arange(97), 4):
        metric.update_state(labels[part], logits[part])
    binned = np.floor(logits * 32) / 32
    expected = average_precision_score(labels, binned, average="macro")
    assert float(metric.result()) == pytest.approx(expected, rel=1e-5)
    exact = average_precision_score(labels, logits, average="macro")
    assert float(metric.result()) == pytest.approx(exact, abs=0.01)
    metric.reset_state()
    assert float(metric.result()) == 0


def test_a_class_that_no_image_has_does_not_count_and_wild_logits_are_the_ends():
    metric = MeanAveragePrecision(3)
    metric.update_state([[0.9, 0.2, 0], [0, 0.8, 0]], [[1e9, -1e9, 0], [-1e9, 1e9, 0]])
    assert float(metric.result()) == 1
    again = MeanAveragePrecision.from_config(metric.get_config())
    assert again.num_classes == 3 and again.name == "mAP"


def test_compiled_it_counts_the_same():
    labels, logits = scores(4)
    metric, compiled = MeanAveragePrecision(5), MeanAveragePrecision(5)
    metric.update_state(labels, logits)
    tf.function(compiled.update_state, jit_compile=True)(tf.constant(labels), tf.constant(logits))
    np.testing.assert_array_equal(compiled.with_class, metric.with_class)
    np.testing.assert_array_equal(compiled.without, metric.without)
