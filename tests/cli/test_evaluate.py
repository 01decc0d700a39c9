"""`keras-vit evaluate`."""

import json

import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.data import open_data, open_train_and_held_out
from keras_vit.training import evaluate
from keras_vit.training.feature_evaluation import evaluate_features


def test_a_table_a_class_and_the_numbers_as_json(cli, digits, model, tmp_path):
    file, page = tmp_path / "new" / "numbers.json", tmp_path / "page.html"
    result = cli("evaluate", model, digits, "--json", file, "--html", page)
    assert result.exit_code == 0, result.output
    numbers = json.loads(file.read_text("utf-8"))
    assert f"80 images: accuracy {100 * numbers['accuracy']:.1f} %" in result.stdout
    assert f"Calibration error {100 * numbers['calibration_error']:.1f} %" in result.stdout
    expected = evaluate(runtime.open(model), open_data(digits))
    assert numbers["accuracy"] == expected.accuracy > 0.1
    assert [row["name"] for row in numbers["classes"]] == [str(i) for i in range(10)]
    assert all(row["images"] == 8 for row in numbers["classes"])
    assert f"{100 * numbers['classes'][3]['f1']:.1f} %" in result.stdout
    assert f"model.keras on {digits}" in page.read_text("utf-8")


def test_by_the_features(cli, digits, model, network, tmp_path):
    result = cli("evaluate", model, digits, "--by", "few-shot", "--json", tmp_path / "n.json")
    assert result.exit_code == 0, result.output
    train, test = open_train_and_held_out(digits, 0.2, seed=0)
    expected = evaluate_features(network, train, test, "few-shot")
    assert json.loads((tmp_path / "n.json").read_text("utf-8")) == expected
    percent = f"{100 * expected['accuracy']:.1f} %"
    assert f"25 a class: {percent}" in result.stdout
    said = f"{len(test)} images by few-shot, from {len(train)}: accuracy {percent}"
    assert said in result.stdout


def test_features_of_a_split(cli, digits, model, tmp_path):
    for split, classes in (("train", "0123"), ("val", "01"), ("test", "2")):
        (tmp_path / split).mkdir()
        for name in classes:
            (tmp_path / split / name).symlink_to(digits / name)
    result = cli("evaluate", model, tmp_path, "--by", "knn", "--split", "test")
    assert "8 images by knn, from 32: accuracy" in result.stdout, result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by", "nn"), "`--by` must be one of head, knn, few-shot, linear. Received: 'nn'"),
        (("--by", "knn", "--html", "x.html"), "`--html` shows what a head answers"),
    ],
)
def test_wrong_options(cli, digits, model, options, message):
    result = cli("evaluate", model, digits, *options)
    assert result.exit_code == 1
    assert message in result.stderr


def test_several_classes_an_image(cli, digits, model, tmp_path):
    lines = ["path,labels"]
    for number in range(10):
        names = f"{number};{(number + 1) % 10}"
        lines += [f"{path},{names}" for path in sorted((digits / str(number)).iterdir())]
    (tmp_path / "tags.csv").write_text("\n".join(lines), "utf-8")
    result = cli("evaluate", model, tmp_path / "tags.csv", "--json", tmp_path / "n.json")
    assert result.exit_code == 0, result.output
    numbers = json.loads((tmp_path / "n.json").read_text("utf-8"))
    expected = evaluate(runtime.open(model), open_data(tmp_path / "tags.csv"))
    assert numbers["mean_average_precision"] == pytest.approx(expected.mean_average_precision)
    assert f"mAP {100 * numbers['mean_average_precision']:.1f} %" in result.stdout
    assert np.all([row["images"] == 16 for row in numbers["classes"]])
    page = cli("evaluate", model, tmp_path / "tags.csv", "--html", tmp_path / "x.html")
    assert page.exit_code == 1
    assert "`--html` shows images of one class each" in page.stderr


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
