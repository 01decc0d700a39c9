import json

import numpy as np
import pytest

from keras_vit.cli import recording, scenes
from keras_vit.cli.recording_detection import FIELDS, detection, new_detector
from keras_vit.data.box_batches import box_batches
from keras_vit.objectives import DetectionLoss
from keras_vit.runtime.detector import open_detector
from keras_vit.training.box_evaluation import evaluate_boxes
from tests.cli.test_scenes import fashion, photographs  # noqa: F401

SMALL = {
    **FIELDS,
    "levels": (4, 4),
    "filters": 8,
    "head_depth": 0,
    "scales": 2,
    "backbone_fields": {"width": 8, "depths": (1, 1, 1), "num_heads": (1, 1, 1)},
}


OPTIONS = {"scenes": 8, "tested": 3, "epochs": 2, "batch_size": 4, "fields": SMALL}


def test_a_row_from_scenes_to_figures(photographs, tmp_path, monkeypatch):  # noqa: F811
    fashion(tmp_path, monkeypatch)
    found = detection(tmp_path / "work", tmp_path, **OPTIONS)
    assert found["scenes"] == {"train": 8, "test": 3} and found["images"] == 3
    assert found["loss"][1] < found["loss"][0] and 0 <= found["mAP50"] <= 1
    json.dumps(found)


@pytest.mark.prove
def test_a_row_that_is_done_has_nothing_left_to_do(photographs, tmp_path, monkeypatch):  # noqa: F811
    fashion(tmp_path, monkeypatch)
    first, again = (detection(tmp_path / "work", tmp_path, **OPTIONS) for _ in range(2))
    assert again == first


def test_it_is_a_row():
    assert "detection" in recording.ROWS


@pytest.mark.prove
def test_a_handful_of_scenes_is_learned_by_heart(photographs, tmp_path, monkeypatch):  # noqa: F811
    fashion(tmp_path, monkeypatch, count=3)
    from keras_vit.data import open_data

    records = open_data(scenes.write_scenes(tmp_path, tmp_path / "scenes", 4, "train", seed=1))
    fields = {**SMALL, "levels": (3, 4), "filters": 32, "head_depth": 1}
    model = new_detector(records.class_names, fields)
    model.compile("adam", DetectionLoss.of(model))
    model.optimizer.learning_rate = 3e-3
    batches = box_batches(records, model.preprocessing, 4, seed=0, augment=())
    model.fit(batches, steps_per_epoch=250, epochs=1, verbose=0, shuffle=False)
    result = evaluate_boxes(open_detector(model), records)
    assert result.at(0.5) > 0.9 and np.isfinite(result.mean_average_precision)
