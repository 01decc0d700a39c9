"""`keras-vit qat`."""

import pytest

from keras_vit import runtime
from keras_vit.export.audit import audit


def test_a_file_that_is_no_keras_model_is_one_sentence(cli, digits, tmp_path):
    (tmp_path / "m.txt").write_text("no model")
    result = cli("qat", tmp_path / "m.txt", digits, "--out", tmp_path / "out")
    assert result.exit_code == 1 and result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.prove
def test_both_files_are_written_and_say_the_same(cli, digits, model, tmp_path):
    out = tmp_path / "out"
    result = cli("qat", model, digits, "--out", out, "--epochs", "1", "--batch-size", "16")
    assert result.exit_code == 0, result.output
    assert [line.partition(":")[0] for line in result.stdout.splitlines()[:3]] == [
        "In floats", "In integers, before", "In integers, after"
    ]  # fmt: skip
    assert not [dtype for dtype in audit(out / "model.tflite").dtypes if "FLOAT" in dtype]
    assert runtime.open(out / "model.keras").class_names == tuple("0123456789")
