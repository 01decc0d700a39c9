"""mAP by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from keras_vit.training.multi_label import TagEvaluation


def test_average_precision_by_hand():
    # By falling score the first class is right at the ranks 1 and 3: (1 + 2/3) / 2.
    logits = np.array([[3.0, 0.0, 1.0], [2.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    labels = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 0]])
    numbers = TagEvaluation(logits, labels, ("a", "b", "c"), 7.0).summary()
    assert numbers["images"] == 3 and numbers["images_per_second"] == 7.0
    assert numbers["mean_average_precision"] == pytest.approx((5 / 6 + 1) / 2)
    assert numbers["classes"] == [
        {"name": "a", "images": 2, "average_precision": pytest.approx(5 / 6)},
        {"name": "b", "images": 1, "average_precision": pytest.approx(1.0)},
        {"name": "c", "images": 0, "average_precision": None},
    ]


def test_the_mean_is_scikit_learns_macro_average():
    rng = np.random.default_rng(4)
    logits, labels = rng.normal(size=(53, 5)), rng.integers(0, 2, size=(53, 5))
    result = TagEvaluation(logits, labels, tuple("abcde"))
    expected = average_precision_score(labels, logits, average="macro")
    assert result.mean_average_precision == pytest.approx(expected, rel=1e-12)
