import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit.layers.anchors import anchor_boxes, deltas_of_boxes
from keras_vit.objectives import DetectionLoss
from keras_vit.objectives.detection_loss import focal, matched
from keras_vit.step.kinds import kind_of

HERE = Path(__file__).parent
# Four square anchors that tile the image.
SETTINGS = {"image_size": (16, 16), "levels": (3, 3), "scales": 1, "aspects": (1.0,), "size": 1.0}
ANCHORS = anchor_boxes(**SETTINGS)
NONE = [0.0] * 4


def match(boxes, labels):
    found = matched(ANCHORS, np.array([boxes], "float32"), np.array([labels]))
    return [np.asarray(part)[0] for part in found]


def test_a_box_on_an_anchor():
    box, positive, negative = match([NONE, [0.5, 0.0, 1.0, 0.5]], [-1, 2])
    assert positive.tolist() == [False, True, False, False] and box[1] == 1
    assert negative.tolist() == [True, False, True, True]


def test_in_between_an_anchor_is_left_alone():
    # Overlaps: 0.45 of the union with the first anchor; the second, of 0.55, answers.
    _, positive, negative = match([[0.1, 0.0, 0.55, 0.25], [0.0, 0.0, 0.5, 0.5]], [0, 1])
    assert positive.tolist() == [True, False, False, False]
    middle = [0.25, 0.0, 0.75, 0.4]  # a third of a fifth less than half with both
    _, positive, negative = match([middle], [0])
    assert not (positive & negative).any()
    overlap = 0.45
    wide = [0.0, 0.0, 0.5, 0.5 * overlap]
    _, positive, negative = match([wide, [0.5, 0.0, 1.0, 0.5]], [0, 1])
    assert positive.tolist() == [True, True, False, False]  # its best anchor, though below 0.5


def test_the_best_anchor_of_a_small_box_answers_for_it():
    box, positive, _ = match([[0.6, 0.6, 0.7, 0.7], [0.0, 0.0, 0.5, 0.5]], [0, 1])
    assert positive.tolist() == [True, False, False, True]
    assert box[0] == 1 and box[3] == 0


def test_an_image_without_boxes_has_no_matches():
    _, positive, negative = match([NONE, NONE], [-1, -1])
    assert not positive.any() and negative.all()


def test_focal_by_hand():
    logits, targets = np.array([0.0, 2.0, -1.0]), np.array([1.0, 0.0, 1.0])
    p = 1 / (1 + np.exp(-logits))
    right = np.where(targets > 0, p, 1 - p)
    expected = np.where(targets > 0, 0.25, 0.75) * (1 - right) ** 2 * -np.log(right)
    np.testing.assert_allclose(focal(logits, targets), expected, rtol=1e-6)
    assert np.isfinite(np.asarray(focal(np.array([500.0, -500.0]), np.array([0.0, 1.0])))).all()


def example(boxes, labels, logits=-2.0):
    y = {"boxes": np.array([boxes], "float32"), "labels": np.array([labels])}
    said = {
        "deltas": keras.ops.full((1, 4, 4), 0.5),
        "logits": keras.ops.full((1, 4, 3), logits),
    }
    return y, said


def test_both_sums_by_hand():
    box = [0.5, 0.0, 1.0, 0.5]
    y, said = example([box, NONE], [2, -1])
    total, number = DetectionLoss(**SETTINGS).terms(y, said)
    ones = np.zeros((4, 3))
    ones[1, 2] = 1
    what = float(keras.ops.sum(focal(np.full((4, 3), -2.0), ones)))
    # The anchor is the box itself: its deltas should be zero.
    assert float(total) == pytest.approx(what + 4 * 0.5, rel=1e-5) and float(number) == 1
    right = np.asarray(deltas_of_boxes(keras.ops.convert_to_tensor([box] * 4), ANCHORS))
    said["deltas"] = right[None]
    assert float(DetectionLoss(**SETTINGS).terms(y, said)[0]) == pytest.approx(what, rel=1e-4)


def test_an_image_without_boxes_teaches_that_nothing_is_there():
    y, said = example([NONE], [-1])
    loss = DetectionLoss(**SETTINGS)
    total, number = loss.terms(y, said)
    expected = 12 * 0.75 / (1 + np.exp(2.0)) ** 2 * np.log1p(np.exp(-2.0))
    assert float(total) == pytest.approx(expected, rel=1e-5) and float(number) == 1
    assert float(loss(*example([NONE], [-1], logits=-9.0))) < 1e-5


def test_kind_and_config():
    loss = DetectionLoss(**SETTINGS, box_weight=0.5)
    assert kind_of(loss) == "ratio"
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(loss))
    assert again.get_config() == loss.get_config() and again.box_weight == 0.5


def test_wrong_arguments():
    y, said = example([NONE], [-1])
    with pytest.raises(ValueError, match="takes no `sample_weight`"):
        DetectionLoss(**SETTINGS).terms(y, said, np.ones(1))
    with pytest.raises(ValueError, match="has 16 anchors, and the model 4"):
        DetectionLoss(**{**SETTINGS, "image_size": (32, 32)}).terms(y, said)


@pytest.mark.parametrize("program", ["plain", pytest.param("jit", marks=pytest.mark.prove)])
def test_two_replicas_train_as_one_device(program):
    """The batch is the global one: weights, history and evaluation are the same."""
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
        "PYTHONPATH": str(HERE.parents[1]),
    }
    command = [sys.executable, HERE / "detection_replicas.py", program]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    assert json.loads(run.stdout.splitlines()[-1]) < 1e-12
