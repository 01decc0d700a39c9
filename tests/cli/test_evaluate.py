"""`keras-vit evaluate`."""

import json

import numpy as np

from keras_vit import runtime
from keras_vit.cli.evaluate import summary
from keras_vit.data import open_data
from keras_vit.training import Evaluation, evaluate


def test_a_table_a_class_and_the_numbers_as_json(cli, digits, model, tmp_path):
    file = tmp_path / "new" / "numbers.json"
    result = cli("evaluate", model, digits, "--json", file)
    assert result.exit_code == 0, result.output
    numbers = json.loads(file.read_text("utf-8"))
    assert f"80 images: accuracy {100 * numbers['accuracy']:.1f} %" in result.stdout
    expected = evaluate(runtime.open(model), open_data(digits))
    assert numbers["accuracy"] == expected.accuracy > 0.1
    assert [row["name"] for row in numbers["classes"]] == [str(i) for i in range(10)]
    assert all(row["images"] == 8 for row in numbers["classes"])


def test_a_split_by_name(cli, digits, model, tmp_path):
    for split, classes in (("train", "0123456789"), ("test", "01")):
        (tmp_path / split).mkdir()
        for name in classes:
            (tmp_path / split / name).symlink_to(digits / name)
    assert "16 images" in cli("evaluate", model, tmp_path).stdout
    assert "80 images" in cli("evaluate", model, tmp_path, "--split", "train").stdout
    wrong = cli("evaluate", model, tmp_path, "--split", "tset")
    assert wrong.exit_code == 1
    assert "'tset'" in wrong.stderr


def test_other_classes_are_an_error(cli, digits, model, tmp_path):
    (tmp_path / "cat").symlink_to(digits / "0")
    result = cli("evaluate", model, tmp_path)
    assert result.exit_code == 1
    assert "classes" in result.stderr


def test_the_numbers_of_a_class():
    logits = np.eye(3)[[0, 0, 1, 0]]
    numbers = summary(Evaluation(logits, np.array([0, 0, 0, 1]), ("a", "b", "c")))
    assert numbers["classes"] == [
        {"name": "a", "images": 3, "recall": 2 / 3, "precision": 2 / 3},
        {"name": "b", "images": 1, "recall": 0.0, "precision": 0.0},
        {"name": "c", "images": 0, "recall": None, "precision": None},
    ]
    assert numbers["confusion"] == [[2, 1, 0], [1, 0, 0], [0, 0, 0]]
