import keras
import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.data import from_arrays
from keras_vit.training.evaluation import Evaluation, check_classes, evaluate
from keras_vit.training.multi_label import TagEvaluation
from tests.small_vit import Artefacts

LOGITS = np.log(np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]], "float32"))
RESULT = Evaluation(LOGITS, np.array([0, 1, 2]), ("a", "b", "c"))


def test_measures_by_hand():
    assert RESULT.accuracy == pytest.approx(1 / 3)
    assert RESULT.top(2) == pytest.approx(2 / 3)
    assert RESULT.top(3) == 1
    assert RESULT.loss == pytest.approx(-np.log([0.7, 0.3, 0.2]).mean(), rel=1e-6)
    assert RESULT.confusion.tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]
    # Right at 0.7, wrong at 0.6 and 0.5, each in a bin of its own.
    assert RESULT.calibration_error == pytest.approx((0.3 + 0.6 + 0.5) / 3, rel=1e-6)


def test_the_numbers_of_a_class():
    logits = np.eye(4)[[0, 0, 1, 0]]
    numbers = Evaluation(logits, np.array([0, 0, 0, 1]), tuple("abcd"), 9.0).summary()
    third = pytest.approx(2 / 3)
    nothing = {"images": 0, "recall": None, "precision": None, "f1": None}
    assert numbers["classes"] == [
        {"name": "a", "images": 3, "recall": third, "precision": third, "f1": third},
        {"name": "b", "images": 1, "recall": 0.0, "precision": 0.0, "f1": 0.0},
        {"name": "c", **nothing},
        {"name": "d", **nothing},
    ]
    assert numbers["confusion"] == [[2, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]
    assert (numbers["accuracy"], numbers["top5"], numbers["images"]) == (0.5, 1.0, 4)
    assert numbers["images_per_second"] == 9.0
    assert sum(part["images"] for part in numbers["reliability"]) == 4


def test_agreement_is_that_of_the_predictions():
    other = Evaluation(LOGITS[[0, 0, 2]], RESULT.labels, RESULT.class_names)
    assert RESULT.agreement(other) == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def artefacts(tmp_path_factory):
    keras.utils.set_random_seed(7)
    return Artefacts(tmp_path_factory.mktemp("artefacts"))


def test_every_format_is_measured_in_its_own_runtime(artefacts):
    pixels, labels = artefacts.pixels[:150], artefacts.labels[:150]
    records = from_arrays(pixels, labels, artefacts.model.preprocessing.class_names)
    logits = runtime.open(artefacts.model).logits(pixels)
    expected, seen = np.mean(logits.argmax(axis=1) == labels), []
    for model in (artefacts.model, artefacts["server"], artefacts["float32"]):
        result = evaluate(runtime.open(model), records, batch_size=64, progress=seen.append)
        assert result.accuracy == expected > 0.5
        np.testing.assert_allclose(result.logits, logits, atol=1e-4)
        assert result.images_per_second > 0
    assert seen == [64, 64, 22] * 3


def test_images_of_several_classes_are_measured_by_average_precision(artefacts):
    pixels, labels = artefacts.pixels[:150], artefacts.labels[:150]
    tags = np.eye(10, dtype=int)[labels]
    tags[:, 0] |= tags[:, 1]
    names = artefacts.model.preprocessing.class_names
    predictor = runtime.open(artefacts.model)
    result = evaluate(predictor, from_arrays(pixels, tags, names))
    expected = TagEvaluation(predictor.logits(pixels), tags, names)
    assert result.mean_average_precision == pytest.approx(expected.mean_average_precision)
    assert len(result.summary()["classes"]) == 10


def test_images_of_which_nothing_is_known_are_an_error(artefacts):
    with pytest.raises(ValueError, match="Images with a class.*Received: Unlabelled"):
        evaluate(runtime.open(artefacts.model), from_arrays(artefacts.pixels[:2]))


def test_classes_that_differ_are_named():
    check_classes(("a", "b"), ("a", "b"))
    with pytest.raises(ValueError, match="has 2 classes and the data 3.*model has no class 'c'"):
        check_classes(("a", "b"), ("a", "b", "c"))
    with pytest.raises(ValueError, match="the data has no class 'b'"):
        check_classes(("a", "b"), ("a",))
    with pytest.raises(ValueError, match="another order"):
        check_classes(("a", "b"), ("b", "a"))
