"""The row `int8` at toy size."""

import numpy as np
import pytest

from keras_vit.cli import recording_int8
from keras_vit.cli.recording_int8 import FILES, difference, int8
from keras_vit.layers import Preprocessing
from keras_vit.models import ViT, ViTConfig


def test_a_difference_is_paired():
    labels, reference = np.zeros(100, int), np.zeros(100, int)
    answers = np.array([1] * 10 + [0] * 90)
    points, low, high = difference(reference, answers, labels)
    assert points == -10
    assert low == pytest.approx(-10 - 196 * np.sqrt(0.09 / 100), abs=0.01) and high > -5
    assert difference(answers, answers, labels) == [0, 0, 0]


def toy(size, **fields):
    config = {"image_size": (size, size), "patch_size": 8, "width": 24, "depth": 1, "num_heads": 3}
    preprocessing = Preprocessing(mean=(0.5,) * 3, std=(0.5,) * 3)
    return ViT(ViTConfig(mlp_dim=48, preprocessing=preprocessing, **config, **fields))


def test_a_row_goes_on_where_it_stopped(tmp_path, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (60, 28, 28), "uint8")
    monkeypatch.setattr(recording_int8, "read_part", lambda *_: (images, np.arange(60) % 10))
    monkeypatch.setattr(recording_int8, "FILES", {"npu": FILES["npu"]})
    figures = int8(tmp_path, None, sizes={16: 20}, train=40, build=toy)
    found = figures["sizes"]["16"]
    assert found["float"]["images"] == found["npu"]["images"] == 20
    assert found["npu"]["agreement"] > 0.5 and len(found["npu"]["difference"]) == 3
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.setattr(recording_int8, "export", None)  # nothing is made again
    assert int8(tmp_path, None, sizes={16: 20}, train=40, build=toy) == figures
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
