import pytest

from keras_vit.cli.recording_fashion import STRONG, from_scratch, upon_dinov2
from keras_vit.training import recipe

TINY = ("config.width=16", "config.depth=1", "config.mlp_dim=16", "epochs=2", "batch_size=10")


@pytest.mark.prove
def test_a_run_a_seed_is_measured_once(tmp_path, row_commands):
    found = from_scratch(tmp_path / "work", tmp_path, seeds=(0, 1), changes=TINY)
    accuracies = [run["test_accuracy"] for run in found["runs"]]
    assert [run["seed"] for run in found["runs"]] == [0, 1]
    assert found["test_accuracy"] == pytest.approx(sum(accuracies) / 2, abs=1e-5)
    assert found["recipe"]["config"]["width"] == 16
    assert [command[0] for command in row_commands] == ["train", "evaluate"] * 2
    again = from_scratch(tmp_path / "work", tmp_path, seeds=(0, 1), changes=TINY)
    assert again == found and [command[0] for command in row_commands[4:]] == ["train"] * 2


def test_what_the_strong_run_changes_is_a_recipe():
    changed = recipe("vit_fashion_mnist", dict(change.split("=", 1) for change in STRONG))
    assert "mixup(0.2)" in changed.augment and changed.epochs == 66


@pytest.mark.prove
def test_head_and_upper_blocks_are_trained_upon_real_weights(tmp_path, row_commands):
    changes = ("config.image_size=28", "augment=['flip']", "batch_size=20")
    found = upon_dinov2(tmp_path / "work", tmp_path, changes=changes, fraction=0.5)
    for row in ("linear_probe", "last_blocks"):
        assert found[row]["changes"][:3] == list(changes)
        assert 0.1 < found[row]["test_accuracy"] <= 1  # better than chance
