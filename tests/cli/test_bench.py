"""`keras-vit bench`."""

import pytest


def test_a_keras_model_infers_and_learns(cli, model):
    result = cli("bench", model, "--batch-size", "2", "--repeats", "1", "--trace")
    assert result.exit_code == 0, result.output
    assert "training step, by kind of operation" in result.stdout
    assert "batches of 2, on" in result.stdout
    assert "inference" in result.stdout
    assert "training step" in result.stdout


def test_another_file_only_infers(cli, network, tmp_path):
    from keras_vit.export import export

    path = export(network, "float32", tmp_path / "m.tflite")
    other = export(network, "cpu", tmp_path / "small.tflite")
    result = cli("bench", path, "--batch-size", "1", "--repeats", "1", "--beside", other)
    assert result.exit_code == 0, result.output
    assert "inference" in result.stdout
    assert "training step" not in result.stdout
    assert "m.tflite, LiteRT" in result.stdout and "small.tflite, LiteRT" in result.stdout
    assert "times as fast as the fastest other file, small.tflite in" in result.stdout


def test_a_keras_model_is_no_file(cli, model):
    result = cli("bench", model, "--beside", model)
    assert result.exit_code == 1
    assert "`--beside` takes exported files" in result.stderr


@pytest.mark.parametrize("dtype", ["flaot32"])
def test_a_wrong_dtype_is_one_sentence(cli, dtype):
    result = cli("bench", "vit_ti32", "--dtype", dtype)
    assert result.exit_code == 1
    assert dtype in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("option", [["--against", "timm"], ["--files"]], ids=str)
def test_only_models_of_this_package_are_compared(cli, network, tmp_path, option):
    from keras_vit.export import export

    path = export(network, "float32", tmp_path / "m.tflite")
    result = cli("bench", path, "--batch-size", "1", "--repeats", "1", *option)
    assert result.exit_code == 1
    assert "take a registered name. Received: a file." in result.stderr
