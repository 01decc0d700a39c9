"""A version that is ready."""

import threading

import numpy as np
import pytest

from keras_vit.export.server.batcher import Task
from keras_vit.export.server.loaded import Loaded
from keras_vit.export.server.settings import Settings
from keras_vit.export.serving.card import write_card


@pytest.fixture
def loaded(models):
    return Loaded("toy", 1, models / "toy" / "1", Settings(models), lambda *_: None)


def test_it_answers_through_its_queue(loaded):
    assert loaded.warmed_up > 0
    loaded.batcher.enter()
    task = Task(("serving_default",), {"x": np.ones((1, 2), "float32")}, 1, float("inf"))
    assert loaded.batcher.submit(task).result(30)["y"].tolist() == [[2, 2]]
    loaded.let_go()
    assert loaded.runner is None


def test_it_stays_while_it_is_used(loaded):
    leaving = threading.Thread(target=loaded.let_go)
    with loaded.used():
        leaving.start()
        leaving.join(0.05)
        assert leaving.is_alive() and loaded.runner
    leaving.join(30)
    assert not leaving.is_alive() and loaded.runner is None


def test_a_file_that_is_not_what_was_exported(models):
    path = models / "toy" / "1"
    write_card(path, {})
    Loaded("toy", 1, path, Settings(models), lambda *_: None).let_go()
    with open(path / "fingerprint.pb", "ab") as file:
        file.write(b"x")
    with pytest.raises(ValueError, match="fingerprint.pb is not the file that was exported"):
        Loaded("toy", 1, path, Settings(models), lambda *_: None)


def test_a_folder_without_model(models):
    (models / "toy" / "2").mkdir()
    with pytest.raises(ValueError, match="must hold"):
        Loaded("toy", 2, models / "toy" / "2", Settings(models), lambda *_: None)
