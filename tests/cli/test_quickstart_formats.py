"""The quick start's table of formats."""

from types import SimpleNamespace

import pytest

from keras_vit.cli.quickstart_formats import compare, logistic_regression, show
from keras_vit.data import open_data
from keras_vit.training.report import Format


@pytest.fixture(scope="module")
def result(digits):
    train, held_out = open_data(digits).split(0.25, seed=0)
    return SimpleNamespace(train=train, held_out=held_out)


def test_every_file_answers_the_same_images(network, model, result, tmp_path):
    from keras_vit.export import export

    exports = {"float32": export(network, "float32", tmp_path / "m.tflite")}
    evaluation, formats, answers = compare(model, exports, result)
    assert [row.name for row in formats] == ["Keras", "TFLite float32", "Logistic regression"]
    assert len(evaluation.labels) == len(result.held_out)
    assert formats[0].agreement == formats[1].agreement == 1.0
    assert formats[0].accuracy == formats[1].accuracy == evaluation.accuracy
    assert all(row.milliseconds > 0 and row.size > 0 for row in formats[:2])
    assert formats[2].size is None
    assert answers[0][0] == answers[1][0]
    assert answers[2] is None


def test_logistic_regression_learns_from_the_training_images(network, result):
    assert logistic_regression(result.train, result.held_out, network.preprocessing) > 0.7


def test_the_table_has_a_row_a_format(capsys):
    rows = [
        Format("Keras", 0.98, size=2000, milliseconds=3.0, agreement=1.0),
        Format("Logistic regression", 0.96),
    ]
    show(rows, [("7", 0.9), None])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.strip()][1:] == [
        "Keras 2.0 kB 3.00 98.0 % 100.0 % 7 (90 %)".split(),
        "Logistic regression 96.0 %".split(),
    ]
