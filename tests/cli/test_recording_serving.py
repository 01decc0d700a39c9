"""What is recorded of a load; the load itself is proved in tests/serving/test_load.py."""

import io

import numpy as np
import pytest
from PIL import Image

from keras_vit.cli import recording_serving
from keras_vit.cli.recording_serving import jpegs, logits_of, serving
from tests.small_vit import small_vit


def test_what_is_recorded(tmp_path, monkeypatch):
    asked = []

    def short(folder, seconds, *options):
        asked.append((folder.name, seconds, *options))
        return {"answers_per_second": 100.0 if "--max-batch" in options else 250.0}

    monkeypatch.setattr(recording_serving, "_loaded", short)
    monkeypatch.setattr(recording_serving, "_memory", lambda folder: {"growth": 0.01})
    for _ in range(2):  # the second time it reads what it kept
        found = serving(tmp_path, seconds=3)
    assert asked == [
        ("loaded", 3, "--queue", 64),
        ("loaded", 3, "--queue", 64, "--max-batch", 1),
        ("loaded", 3, "--queue", 4),
    ]
    assert found["batching_gains"] == 2.5
    assert found["memory"] == {"growth": 0.01}
    assert found["short_queue"] == {"answers_per_second": 250.0}


def test_pictures_differ():
    files = jpegs(3, size=(31, 19))
    assert len(set(files)) == 3 and jpegs(3, size=(31, 19)) == files
    assert Image.open(io.BytesIO(files[0])).size == (31, 19)


def test_answers_that_are_alike_are_refused():
    model = small_vit(channels=3)
    pictures = jpegs(3)
    assert np.ptp(logits_of(model, pictures), axis=0).max() > 0
    with pytest.raises(ValueError, match="must have answers that differ"):
        logits_of(model, [*pictures, pictures[1]])
