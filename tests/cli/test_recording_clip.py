import numpy as np
import pytest

from keras_vit.cli import recording_clip
from tests.data.tokens import MERGES

SMALL = {"width": 12, "depth": 1, "num_heads": 2, "mlp_dim": 12, "text_width": 8, "text_depth": 1}


@pytest.mark.prove
def test_the_row_is_measured_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    generator = np.random.default_rng(3)
    grey, labels = generator.integers(0, 256, (20, 28, 28), "uint8"), np.arange(20) % 10
    monkeypatch.setattr(recording_clip, "read_part", lambda *_: (grey, labels))
    monkeypatch.setattr(recording_clip, "PICTURES", 10)
    monkeypatch.setattr(recording_clip, "PAIRS", 6)
    monkeypatch.setattr(recording_clip, "SIZES", {**recording_clip.SIZES, **SMALL})
    options = {"source": tmp_path, "pairs": 8, "epochs": 1, "batch_size": 4, "vocabulary": MERGES}
    found = recording_clip.clip(tmp_path / "work", **options)
    assert found["combinations"] == {"shown": 128, "unseen": 32}
    assert 0 <= found["zero_shot_accuracy"] <= 1
    assert set(found["recall_at_1"]) == {"clip", "bag_of_words"}
    assert recording_clip.clip(tmp_path / "work", **options) == found
