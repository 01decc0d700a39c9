import pytest

from keras_vit.cli import recording_distillation, recording_fashion
from keras_vit.cli.recording_distillation import distillation
from keras_vit.data import write_digits

TINY = ("config.width=8", "config.depth=1", "config.mlp_dim=8", "config.num_heads=2")
TINY += ("config.patch_size=14", "epochs=1", "warmup_epochs=0", "batch_size=10")


@pytest.mark.prove
def test_all_of_a_seed_are_trained_once_and_compared(tmp_path, monkeypatch, cli):
    write_digits(tmp_path / "pictures" / "train", per_class=4)
    write_digits(tmp_path / "pictures" / "test", per_class=2)
    commands = []

    def run(*arguments):
        commands.append(arguments)
        done = cli(*arguments)
        assert done.exit_code == 0, done.output

    where = lambda source, folder: tmp_path / "pictures"  # noqa: E731
    monkeypatch.setattr(recording_distillation, "write_fashion_mnist", where)
    monkeypatch.setattr(recording_fashion, "_keras_vit", run)
    options = {"seeds": (0, 1), "changes": TINY, "fraction": 0.5, "epochs": 1}
    found = distillation(tmp_path / "work", tmp_path, **options)
    gains = [r["distilled"]["test_accuracy"] - r["plain"]["test_accuracy"] for r in found["runs"]]
    assert found["mean_gain"] == pytest.approx(sum(gains) / 2, abs=1e-5)
    assert found["standard_error"] == pytest.approx(abs(gains[0] - gains[1]) / 2, abs=1e-5)
    assert all(0 <= run["teacher"] <= 1 for run in found["runs"])
    assert [command[0] for command in commands] == ["train", "evaluate"] * 4
    assert distillation(tmp_path / "work", tmp_path, **options) == found
    assert [command[0] for command in commands[8:]] == ["train"] * 4
