import dataclasses

import numpy as np
import pytest

from keras_vit.data import Boxes, Captions, Classes, Tags, Unlabelled
from keras_vit.training import recipe
from keras_vit.training.tasks import task_of

CLASSES = task_of(Classes(("a", "b"), [0, 1]))
PAIRS = task_of(Captions(["a"]))
TAGS = task_of(Tags(("a", "b"), [[1, 1]]))


def test_boxes_are_detected():
    task = task_of(Boxes(("a",), np.zeros((1, 1, 4)), np.zeros((1, 1), int)))
    assert task.fitting(recipe("digits")).loss == "detection"
    assert task.monitor(recipe("digits"), 1) == "val_mAP" and task.probabilities == "sigmoid"


def test_a_loss_that_fits_stays_and_another_gives_way():
    digits = recipe("digits")
    assert CLASSES.fitting(digits) is digits
    assert TAGS.fitting(digits).loss == "sigmoid"
    mean = dataclasses.replace(digits, loss="sigmoid_mean")
    assert CLASSES.fitting(mean) is mean and TAGS.fitting(mean) is mean
    assert PAIRS.fitting(digits).loss == "contrastive"
    assert CLASSES.fitting(recipe("clip_pairs")).loss == "softmax"


def test_what_tells_the_best_epoch():
    digits = recipe("digits")
    assert CLASSES.monitor(digits, 2) == "val_accuracy" and TAGS.monitor(digits, 2) == "val_mAP"
    by_loss = dataclasses.replace(digits, monitor="val_loss")
    assert CLASSES.monitor(by_loss, 2) == "val_loss"
    assert PAIRS.monitor(digits, 0) == "val_recall"
    with pytest.raises(ValueError, match="one of loss, val_loss, val_recall"):
        PAIRS.monitor(dataclasses.replace(digits, monitor="recall"), 0)
    names = "loss, accuracy, top5, val_loss, val_accuracy, val_top5"
    with pytest.raises(ValueError, match=f"one of {names}. Received: 'accurracy'"):
        CLASSES.monitor(dataclasses.replace(digits, monitor="accurracy"), 6)


def test_weights_of_classes_need_classes():
    weighted = recipe("digits", {"class_weight": "balanced"})
    assert CLASSES.fitting(weighted) is weighted
    assert TAGS.fitting(weighted).class_weight == "balanced"
    with pytest.raises(ValueError, match="is for images with classes. Received: 'balanced'"):
        PAIRS.fitting(weighted)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (Unlabelled(3), "Unlabelled; sort them into folders"),
    ],
)
def test_other_images_are_refused_with_what_to_use(targets, message):
    with pytest.raises(ValueError, match=message):
        task_of(targets)
