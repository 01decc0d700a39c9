import dataclasses

import numpy as np
import pytest

from keras_vit.data import open_data
from keras_vit.models import Detector
from keras_vit.training import recipe, train
from keras_vit.training.box_inputs import BOXES
from keras_vit.training.prepared import prepared
from tests.cli.coco_squares import write_squares
from tests.tiny_detector import FIELDS

CHANGES = {
    "config": {**FIELDS},
    "epochs": 2,
    "batch_size": 2,
    "augment": ("flip",),
    "warmup_epochs": 0.5,
}


@pytest.fixture
def data(tmp_path):
    return write_squares(tmp_path)


def small(**more):
    return dataclasses.replace(recipe("detection"), **CHANGES, **more)


@pytest.mark.prove
def test_a_recipe_trains_a_detector(data, tmp_path):
    result = train(small(), data, tmp_path / "run", verbose=False)
    assert isinstance(result.model, Detector)
    assert result.model.preprocessing.class_names == ("cat", "dog")
    assert len(result.history) == 2
    assert all(np.isfinite(row["val_loss"]) and 0 <= row["val_mAP"] <= 1 for row in result.history)
    assert (tmp_path / "run" / "best.keras").is_file()


def test_the_first_batch_tells_names(data):
    setting = prepared(small(), open_data(data))
    assert setting.inputs is BOXES and setting.monitor == "val_mAP"
    model = setting.model()
    images, texts = next(iter(setting.shown(model.preprocessing)))
    assert images.shape == (2, 32, 32, 3)
    assert {text.decode() for text in texts.numpy()} <= {"cat", "dog", ""}


def test_what_boxes_cannot_have(data):
    setting = prepared(small(repeats=2), open_data(data))
    with pytest.raises(ValueError, match="`repeats` of images with boxes must be 1"):
        setting.batches(setting.model().preprocessing)(0)
