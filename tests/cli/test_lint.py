"""`keras-vit lint`."""

import json

import pytest


@pytest.fixture(scope="session")
def file(network, tmp_path_factory):
    from keras_vit.export import export

    return export(network, "cpu", tmp_path_factory.mktemp("lint") / "m.tflite")


def test_a_file_that_would_run(cli, file, tmp_path):
    result = cli("lint", file, "--target", "web", "--json", tmp_path / "found.json")
    assert result.exit_code == 0, result.output
    assert "operators would map (by the rules; not compiled)." in result.stdout
    assert "KiB at most, in block_0/attention" in result.stdout
    assert json.loads((tmp_path / "found.json").read_text())["share"] == 1


def test_a_file_that_would_not(cli, file):
    result = cli("lint", file, "--target", "edgetpu")
    assert result.exit_code == 1
    assert "first blocker: block_0/mlp GELU" in result.stdout
    assert "2 x GELU is unknown to its parser" in result.stdout


@pytest.mark.parametrize(
    ("name", "target", "text"), [("no.tflite", "web", "no file"), (None, "wbe", "'web'")]
)
def test_a_wrong_request_is_one_sentence(cli, file, tmp_path, name, target, text):
    result = cli("lint", tmp_path / name if name else file, "--target", target)
    assert result.exit_code == 1 and text in result.stderr
    assert result.stderr.count("\n") == 1
