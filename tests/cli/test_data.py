"""`keras-vit data`."""

import pytest
from PIL import Image

from tests.data.pictures import write_folder


def test_what_is_in_a_folder(cli, tmp_path):
    write_folder(tmp_path / "data", {"cat": 5, "dog [x]": 3}, size=(7, 6))
    (tmp_path / "data" / "cat" / "bad.jpg").write_bytes(b"text")
    twin = tmp_path / "data" / "dog [x]" / "twin.png"
    twin.write_bytes((tmp_path / "data" / "cat" / "000.png").read_bytes())
    result = cli("data", "inspect", tmp_path / "data", "--out", tmp_path / "sheet.png")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "10 images, classes, 2 classes"
    assert lines[1].split() == ["cat", "6", "█" * 20]
    assert lines[2].split() == ["dog", "[x]", "4", "█" * 13 + "░" * 7]
    assert lines[3] == "Height × width: from 7 × 6, in the middle 7 × 6, to 7 × 6."
    bad = tmp_path / "data" / "cat" / "bad.jpg"
    assert lines[4] == f"1 of 10 images cannot be read: {bad}: not an image."
    assert lines[5] == "2 files are the same as another, in 1 groups:"
    assert lines[6] == f"  {tmp_path / 'data' / 'cat' / '000.png'}, {twin}"
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.format == "PNG"


def test_splits_one_by_one(cli, tmp_path):
    write_folder(tmp_path / "train", {"cat": 2, "dog": 1})
    write_folder(tmp_path / "test", {"cat": 1})
    result = cli("data", "inspect", tmp_path)
    assert "train: 3 images, classes, 2 classes" in result.stdout
    assert "test: 1 images, classes, 2 classes" in result.stdout
    assert "2 files are the same as another, in 1 groups, 1 groups across splits:" in result.stdout


def test_errors_are_one_sentence(cli, tmp_path):
    result = cli("data", "inspect", tmp_path / "labels.csv")
    assert result.exit_code == 1
    assert result.stderr == f"Error: There is no manifest {tmp_path / 'labels.csv'}.\n"


def test_bench_prints_shares_and_costs(cli, tmp_path):
    write_folder(tmp_path, {"cat": 5, "dog": 4}, size=(40, 30))
    arguments = ("--image-size", "16", "--seconds", "0.01", "--augment", "shift")
    result = cli("data", "bench", tmp_path, *arguments)
    assert result.exit_code == 0, result.output
    lines = [line.strip() for line in result.stdout.splitlines()]
    for name in ("bare decoder", "decode + crop + flip", "decode + crop + resize + flip"):
        assert any(line.startswith(f"{name} ") and line.endswith("%") for line in lines), lines
    assert any(line.startswith("shift ") for line in lines)
    wrong = cli("data", "bench", tmp_path, "--augment", "flop")
    assert wrong.exit_code == 1 and "Received: 'flop'" in wrong.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("data", "inspect", "DATA"),
        ("data", "bench", "DATA"),
        ("train", "digits", "DATA", "--out", "run"),
        ("evaluate", "MODEL", "DATA"),
        ("export", "vit_ti32", "--profile", "npu", "--out", "x.tflite", "--calibration", "DATA"),
    ],
)
def test_every_command_on_data_knows_where_tfds_keeps_its_sets(cli, model, tmp_path, command):
    write_folder(tmp_path, {"cat": 2})
    paths = {"DATA": tmp_path, "MODEL": model}
    words = [paths.get(word, word) for word in command]
    result = cli(*words, "--data-dir", "sets")
    assert result.exit_code == 1
    assert "for tfds:NAME alone. Received: data_dir='sets'" in result.stderr
