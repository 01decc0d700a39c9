"""What `keras-vit train` shows instead of training."""

import pytest
from PIL import Image

SMALL = ("--set", "epochs=4", "--set", "warmup_epochs=1", "--set", "config.depth=1")


@pytest.fixture
def train(cli, digits, tmp_path):
    def run(*options):
        result = cli("train", "digits", digits, "--out", tmp_path / "run", *SMALL, *options)
        assert result.exit_code == 0, result.output
        assert not (tmp_path / "run" / "states").exists()
        return result.stdout

    return run


def test_the_plan(train, tmp_path):
    text = " ".join(train("--dry-run", "--set", "patience=2", "--fraction", "0.5").split())
    assert "30 to train, 20 held out, 10 classes" in text
    assert "4: 4 epochs, or 2 without a better val_accuracy of 1, with 64 images each" in text
    assert "by adamw, cosine, after 1 epochs of warm-up, to 0" in text
    assert "augmentation shift" in text
    assert "GFLOP each forward" in text and "a step on one device: weights" in text
    for name in ("schedule.png", "first_batch.png"):
        with Image.open(tmp_path / "run" / name) as picture:
            assert picture.format == "PNG"


def test_the_groups(train):
    lines = train("--show-groups", "--set", "layer_decay=0.5").splitlines()
    assert lines[0].split()[:4] == ["group", "learning", "rate", "×"]
    # Patches and block and head, each with and without decay.
    assert [line.split()[1] for line in lines[1:7]] == ["0.25", "0.25", "0.5", "0.5", "1", "1"]
    assert {line.split()[2] for line in lines[1:7]} == {"0", "0.05"}
    assert "  head/kernel" in lines and "  block_0/mlp/fc1/bias" in lines


def test_a_learning_rate(train, tmp_path, monkeypatch):
    import keras_vit.training.rate_finder as rate_finder

    whole = rate_finder.find_rate
    monkeypatch.setattr(rate_finder, "find_rate", lambda setting: whole(setting, steps=25))
    text = train("--find-lr")
    assert "Try: --set learning_rate=" in text or "fell at no learning rate" in text
    assert (tmp_path / "run" / "learning_rate.png").is_file()
