import pytest

from keras_vit.cli.recording_distillation import distillation

TINY = ("config.width=8", "config.depth=1", "config.mlp_dim=8", "config.num_heads=2")
TINY += ("config.patch_size=14", "epochs=1", "warmup_epochs=0", "batch_size=10")


@pytest.mark.prove
def test_all_of_a_seed_are_trained_once_and_compared(tmp_path, row_commands):
    options = {"seeds": (0, 1), "changes": TINY, "fraction": 0.5, "epochs": 1}
    found = distillation(tmp_path / "work", tmp_path, **options)
    gains = [r["distilled"]["test_accuracy"] - r["plain"]["test_accuracy"] for r in found["runs"]]
    assert found["mean_gain"] == pytest.approx(sum(gains) / 2, abs=1e-5)
    assert found["standard_error"] == pytest.approx(abs(gains[0] - gains[1]) / 2, abs=1e-5)
    assert all(0 <= run["teacher"] <= 1 for run in found["runs"])
    assert [command[0] for command in row_commands] == ["train", "evaluate"] * 4
    assert distillation(tmp_path / "work", tmp_path, **options) == found
    assert [command[0] for command in row_commands[8:]] == ["train"] * 4
