import numpy as np
import pytest

from keras_vit.training.evaluation import Evaluation, check_classes

LOGITS = np.log(np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]], "float32"))
RESULT = Evaluation(LOGITS, np.array([0, 1, 2]), ("a", "b", "c"))


def test_measures_by_hand():
    assert RESULT.accuracy == pytest.approx(1 / 3)
    assert RESULT.top(2) == pytest.approx(2 / 3)
    assert RESULT.top(3) == 1
    assert RESULT.loss == pytest.approx(-np.log([0.7, 0.3, 0.2]).mean(), rel=1e-6)
    assert RESULT.confusion.tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]


def test_agreement_is_that_of_the_predictions():
    other = Evaluation(LOGITS[[0, 0, 2]], RESULT.labels, RESULT.class_names)
    assert RESULT.agreement(other) == pytest.approx(2 / 3)


def test_classes_that_differ_are_named():
    check_classes(("a", "b"), ("a", "b"))
    with pytest.raises(ValueError, match="has 2 classes and the data 3.*model has no class 'c'"):
        check_classes(("a", "b"), ("a", "b", "c"))
    with pytest.raises(ValueError, match="the data has no class 'b'"):
        check_classes(("a", "b"), ("a",))
    with pytest.raises(ValueError, match="another order"):
        check_classes(("a", "b"), ("b", "a"))
