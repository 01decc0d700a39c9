import dataclasses
from pathlib import Path

import numpy as np
import pytest

from keras_vit.data import find_data, from_arrays
from keras_vit.training.prepared import prepared
from tests.data.pictures import noise

WEIGHTS = Path(__file__).parents[1] / "fixtures" / "weights"


def records(labels):
    return from_arrays(noise(len(labels), 8, 8, 1), labels)


def test_a_setting_has_what_a_run_needs(digits, quick):
    setting = prepared(quick, find_data(str(digits)), fraction=0.5)
    assert (len(setting.train), len(setting.held_out), setting.steps) == (50, 20, 2)
    assert setting.monitor == "val_accuracy"
    model = setting.compiled(setting.model())
    batches = setting.batches(model.preprocessing)
    assert batches(3) is batches(3)
    images, labels = next(iter(batches(0)))
    assert images.shape == (32, 8, 8, 1) and labels.shape == (32, 10)
    images, labels = next(iter(setting.validation(model.preprocessing)))
    assert labels.shape == (20, 10) and (labels.numpy().sum(axis=1) == 1).all()
    assert float(setting.rate()(2)) == pytest.approx(quick.learning_rate)


def test_weights_of_classes_reach_the_batches(quick):
    given = records([0] * 30 + [1] * 10)
    setting = prepared(dataclasses.replace(quick, class_weight="balanced"), given)
    _, labels, weights = next(iter(setting.batches(setting.model().preprocessing)(0)))
    expected = np.where(labels.numpy()[:, 0] > 0.5, 40 / 60, 40 / 20)
    np.testing.assert_allclose(weights, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="a class that there is not: 'x'"):
        prepared(dataclasses.replace(quick, class_weight={"x": 1}), given)


def test_images_with_several_classes_change_the_loss_and_say_so(quick):
    said = []
    given = records(np.eye(4, dtype="int64")[np.arange(24) % 4] | np.eye(4, dtype="int64")[0])
    setting = prepared(quick, given, tell=said.append)
    assert said == ["An image may have several classes: the loss is sigmoid."]
    assert setting.recipe.loss == "sigmoid" and setting.monitor == "val_mAP"
    assert setting.model().preprocessing.probabilities == "sigmoid"


def test_weights_of_several_classes_reach_the_loss(quick):
    labels = np.eye(4, dtype="int64")[np.arange(24) % 4] | np.eye(4, dtype="int64")[0]
    weighted = dataclasses.replace(quick, class_weight="balanced", loss="sigmoid_mean")
    setting = prepared(weighted, records(labels))
    model = setting.compiled(setting.model())
    share = setting.train.labels.mean(axis=0)
    expected = [(1 - x) / x if x else 1 for x in share]
    assert model.loss.presence == pytest.approx(expected) and model.loss.mean
    assert len(next(iter(setting.batches(model.preprocessing)(0)))) == 2


def test_a_monitor_that_there_is_not_is_found_before_the_training(quick):
    with pytest.raises(ValueError, match="`monitor` must be one of .* Received: 'val_acc'"):
        prepared(dataclasses.replace(quick, monitor="val_acc"), records([0, 1] * 5))


def test_a_run_starts_from_weights_in_its_own_precision(quick):
    small = {"width": 24, "depth": 2, "num_heads": 3, "mlp_dim": 48, "patch_size": 4}
    fields = {"config": {**small, "image_size": 28}, "preprocessing": {}}
    start = {"weights": str(WEIGHTS / "hf_dinov2"), "precision": "mixed_bfloat16"}
    given = from_arrays(noise(10, 28, 28, 3), [0, 1] * 5)
    recipe = dataclasses.replace(quick, model="dinov2_s14", **fields, **start)
    model = prepared(recipe, given).model()
    assert model.weights_report.filled and model.config.num_classes == 2
    assert any(layer.compute_dtype == "bfloat16" for layer in model.layers)
