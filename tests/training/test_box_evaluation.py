import numpy as np
import pytest

from keras_vit.data import Boxes
from keras_vit.runtime.detections import Detections
from keras_vit.runtime.detector import open_detector
from keras_vit.training.box_evaluation import box_evaluation, evaluate_boxes
from tests.data.test_box_batches import planted
from tests.tiny_detector import tiny_detector

LEFT, RIGHT = [0.0, 0.0, 0.4, 0.5], [0.5, 0.5, 1.0, 0.9]
TRUE = Boxes.of(("a", "b"), [[LEFT, RIGHT], [LEFT], []], [[0, 1], [0], []])


def said(*rows):
    boxes, labels, scores = (np.array(column) for column in zip(*rows, strict=True))
    return Detections(boxes.reshape(-1, 4), labels, scores)


NOTHING = Detections(np.zeros((0, 4)), np.zeros(0, int), np.zeros(0))


def test_all_found():
    found = [said((LEFT, 0, 0.9), (RIGHT, 1, 0.8)), said((LEFT, 0, 0.7)), NOTHING]
    result = box_evaluation(found, TRUE)
    assert result.mean_average_precision == pytest.approx(1.0)
    assert result.recall == pytest.approx(1.0) and result.boxes.tolist() == [2, 1]


def test_by_hand():
    """Class a: right, wrong, right: precision 1 up to half of the boxes, then 2/3 (of 101 points,
    51 and 50). Class b: an overlap of 0.8 counts up to 0.8."""
    high = RIGHT[1] + 0.8 * (RIGHT[3] - RIGHT[1]) + 1e-6
    near = [*RIGHT[:3], high]
    found = [said((LEFT, 0, 0.9), (near, 1, 0.5)), said((LEFT, 0, 0.3)), said((RIGHT, 0, 0.6))]
    result = box_evaluation(found, TRUE)
    a = (51 + 50 * 2 / 3) / 101
    np.testing.assert_allclose(result.precisions[:, 0], a, atol=1e-6)
    np.testing.assert_allclose(result.precisions[:, 1], [1] * 7 + [0] * 3, atol=1e-6)
    assert result.at(0.5) == pytest.approx((a + 1) / 2)
    summary = result.summary()
    assert summary["mAP"] == pytest.approx((a + 0.7) / 2)
    assert summary["classes"][1] == {
        "name": "b", "boxes": 1, "mAP": pytest.approx(0.7), "mAP50": pytest.approx(1.0)
    }  # fmt: skip


def test_nothing_found():
    assert box_evaluation([NOTHING] * 3, TRUE).mean_average_precision == 0.0


def test_a_class_without_boxes_does_not_count():
    true = Boxes.of(("a", "b"), [[LEFT]], [[0]])
    result = box_evaluation([said((LEFT, 0, 0.9), (RIGHT, 1, 0.9))], true)
    assert result.mean_average_precision == pytest.approx(1.0)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="one for each image. Received: 1 for 3"):
        box_evaluation([NOTHING], TRUE)
    with pytest.raises(ValueError, match="no box in any"):
        box_evaluation([NOTHING], Boxes.of(("a",), [[]], [[]]))


def test_a_model():
    predictor = open_detector(tiny_detector(("red", "green")))
    result = evaluate_boxes(predictor, planted(5), batch_size=2)
    assert result.images == 5 and 0 <= result.mean_average_precision < 0.5
    with pytest.raises(ValueError, match="has no class 'red'"):
        evaluate_boxes(open_detector(tiny_detector()), planted(2))
