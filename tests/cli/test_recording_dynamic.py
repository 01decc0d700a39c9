import dataclasses

import pytest

from keras_vit.cli import recording_dynamic
from keras_vit.cli.recording_dynamic import KINDS, accuracy, speed
from keras_vit.training.sparsifying import SMALL

TINY = ("config.width=16", "config.mlp_dim=16", "epochs=1", "warmup_epochs=0", "batch_size=10")
SIZES = {
    "width": 12,
    "depth": 4,
    "num_heads": 2,
    "mlp_dim": 16,
    "patch_size": 16,
    "image_size": 64,
    "num_classes": 5,
}


@pytest.mark.prove
def test_vit_and_dynamic_vit_are_measured_once(tmp_path, row_commands):
    recipe = dataclasses.replace(SMALL, epochs=1, frozen_epochs=0, warmup_epochs=0, batch_size=20)
    found = accuracy(tmp_path / "work", tmp_path, TINY, recipe)
    cost = 100 * (found["vit"] - found["dynamic"])
    assert found["cost_in_points"] == pytest.approx(cost, abs=0.01)
    assert [command[0] for command in row_commands] == ["train", "evaluate", "evaluate"]
    assert accuracy(tmp_path / "work", tmp_path, TINY, recipe) == found
    # Taken up, and done already.
    assert [c[0] for c in row_commands] == ["train", "evaluate", "evaluate", "train"]


@pytest.mark.prove
def test_every_kind_is_timed_in_every_form(tmp_path, monkeypatch):
    monkeypatch.setattr(recording_dynamic, "MERGED", 2)
    found = speed(tmp_path, SIZES, rounds=1)
    assert list(found) == ["Keras float32", "Keras bfloat16", *recording_dynamic.FILES]
    for call, row in found.items():
        assert list(row) == list(KINDS) and row["vit"]["times"] == 1, call
        assert all(one["seconds"] > 0 for one in row.values())
