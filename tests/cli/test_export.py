"""`keras-vit export`."""

import pytest

from keras_vit import runtime


def test_a_file_that_knows_its_classes(cli, digits, model, tmp_path):
    path = tmp_path / "model.tflite"
    result = cli("export", model, "--profile", "npu", "--calibration", digits, "--out", path)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"Written to {path} (")
    predictor = runtime.open(path)
    assert predictor.class_names == tuple("0123456789")


@pytest.mark.parametrize(
    ("profile", "name", "text"),
    [
        ("nup", "m.tflite", "npu"),
        ("npu", "m.tflite", "`calibration`"),
        ("cpu", "m.txt", ".tflite"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_writes_nothing(
    cli, model, tmp_path, profile, name, text
):
    result = cli("export", model, "--profile", profile, "--out", tmp_path / name)
    assert result.exit_code == 1
    assert text in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_help_names_every_profile():
    from keras_vit.cli.export import PROFILES as told
    from keras_vit.export import PROFILES

    names, _, _ = told.partition(". ")
    assert names.replace(" or ", ", ").split(", ") == list(PROFILES)


def test_what_a_device_does_not_take_is_reported_and_not_written(cli, digits, model, tmp_path):
    path = tmp_path / "model.tflite"
    result = cli("export", model, "--profile", "edgetpu", "--calibration", digits, "--out", path)
    assert result.exit_code == 1 and "`edgetpu` was refused" in result.stderr
    assert "operators would map (by the rules; not compiled)" in result.stdout
    assert "BATCH_MATMUL is not among its operators" in result.stdout
    assert not list(tmp_path.iterdir())
