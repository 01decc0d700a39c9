"""`keras-vit distill`."""

import json

from tests.objectives.taught import convnet


def test_a_student_is_trained_and_written(cli, digits, tmp_path):
    teacher, folder = tmp_path / "teacher.keras", tmp_path / "run"
    convnet(channels=1, size=8, classes=10).save(teacher)
    fields = ["image_size=8", "patch_size=4", "channels=1", "width=8", "depth=1", "num_heads=2"]
    changes = [f"config.{field}" for field in [*fields, "mlp_dim=8"]]
    changes += ["epochs=1", "warmup_epochs=0", "batch_size=32", "augment=[]", "repeats=1"]
    changes += ["preprocessing.mean=[0.5]", "preprocessing.std=[0.5]"]
    arguments = [part for change in changes for part in ("--set", change)]
    more = ["--loss", "soft", "--temperature", "2", "--weight", "0.3", "--out", folder]
    wrong = cli("distill", teacher, digits, *arguments, *more)
    assert wrong.exit_code == 1 and "give its range, one of 0..255" in wrong.stderr
    more += ["--teacher-range", "0..255", "--logits", tmp_path / "logits.npz"]
    result = cli("distill", teacher, digits, *arguments, *more)
    assert result.exit_code == 0, result.output
    assert "held-out images" in result.stdout and (folder / "model.keras").is_file()
    said = json.loads((folder / "recipe.json").read_text())["distillation"]
    assert said["temperature"] == 2 and said["loss"] == "soft" and said["range"] == "0..255"
    assert (tmp_path / "logits.npz").is_file()
