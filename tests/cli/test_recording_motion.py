import json
from pathlib import Path

import numpy as np
import pytest

from keras_vit.cli import recording_motion as row
from tests.data.pictures import noise

SMALL = {**row.SIZES, "width": 12, "depth": 1, "num_heads": 2, "mlp_dim": 8, "patch_size": 16}


def test_every_clip_is_there_backwards_with_the_other_label():
    clips, labels = row.clips_of(noise(5, 28, 28) | 1, 40, 6, 32, seed=3)
    assert clips.shape == (40, 6, 32, 32, 1) and labels.tolist() == [0, 1] * 20
    np.testing.assert_array_equal(clips[1::2], clips[::2, ::-1])
    # Where the item is, by its mean column: it goes right, each time by as much.
    columns = np.arange(32)
    for clip in clips[::2, ..., 0].astype("float64"):
        seen = (clip > 0).sum(axis=1)
        steps = np.diff((seen * columns).sum(axis=1) / seen.sum(axis=1))
        assert steps[0] >= 1 and np.allclose(steps, steps[0]) and (seen.sum(axis=1) == 14**2).all()


@pytest.mark.prove
def test_the_row_is_measured_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(row, "read_part", lambda *_: (noise(5, 28, 28), None))
    monkeypatch.setattr(row, "SIZES", SMALL)
    sizes = {"source": tmp_path, "train": 8, "test": 6, "epochs": 1, "batch_size": 4}
    found = row.motion(tmp_path / "work", **sizes)
    # Frame by frame, a clip and the same backwards are one: half of the answers are right.
    assert found["accuracy"]["space_only"] == found["order_blind"] == 0.5
    assert 0 <= found["accuracy"]["divided"] <= 1
    assert row.motion(tmp_path / "work", **sizes) == found


def test_the_readme_shows_what_was_recorded():
    root = Path(__file__).parents[2]
    found = json.loads((root / "training" / "results" / "motion.json").read_text("utf-8"))
    divided, alone = (100 * found["accuracy"][kind] for kind in row.KINDS)
    assert divided >= 95 and alone <= 100 * found["order_blind"] + 5
    said = f"right on {divided:.2f} % and space-only attention on {alone:.2f} %"
    assert said in (root / "README.md").read_text("utf-8")
