import pytest

from keras_vit.cli import recording_mae
from keras_vit.cli.recording_mae import DECODER, ENCODER, encoder_times, mae

TINY = ("config.width=8", "config.depth=1", "config.mlp_dim=8", "config.num_heads=2", "epochs=1")
TINY += ("config.patch_size=14", "warmup_epochs=0", "batch_size=10")


@pytest.mark.prove
def test_both_starts_of_a_seed_are_measured_once(tmp_path, monkeypatch, row_commands):
    monkeypatch.setattr(recording_mae, "encoder_times", lambda sizes: sizes)
    options = {
        "seeds": (0,),
        "fraction": 0.5,
        "pre_training": TINY,
        "labels": TINY,
        "sizes": {"image_size": 28},
    }
    found = mae(tmp_path / "work", tmp_path, **options)
    accuracies = [
        found["runs"][0][name]["test_accuracy"] for name in ("pre_trained", "from_scratch")
    ]
    assert found["mean_gain"] == pytest.approx(accuracies[0] - accuracies[1], abs=1e-5)
    assert row_commands[0] == ("train", "mae_b16")
    assert [command[0] for command in row_commands[1:]] == ["train", "evaluate"] * 2
    assert mae(tmp_path / "work", tmp_path, **options) == found
    assert [command[0] for command in row_commands[5:]] == ["train"] * 2


def test_the_encoder_is_timed_with_and_without_a_mask():
    found = encoder_times({**ENCODER, **DECODER, "depth": 1}, batch_size=2, rounds=1)
    assert found["ratio"] == pytest.approx(found["whole"] / found["masked"], rel=0.05)
