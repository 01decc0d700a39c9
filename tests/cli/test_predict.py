"""`keras-vit predict`."""

import shutil

import pytest

from keras_vit import runtime


def test_pictures_get_their_likeliest_classes(cli, digits, model, tmp_path):
    picture = tmp_path / "eine schöne [0].png"
    shutil.copy(sorted((digits / "0").iterdir())[0], picture)
    other = sorted((digits / "1").iterdir())[0]
    result = cli("predict", model, picture, other, "--top", "2")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == str(picture)
    assert lines[3] == str(other)
    assert len(lines) == 6
    ((best, second), _) = runtime.open(model).predict_files([picture, other], top=2)
    assert [line.split()[0] for line in lines[1:3]] == [best[0], second[0]]
    assert all(line.rstrip().endswith("%") for line in lines[1:3])


@pytest.mark.parametrize("content", [b"", b"no picture\n", b"\xff\xd8\xff\xe0 cut short"])
def test_a_file_that_is_no_picture_is_one_sentence(cli, model, tmp_path, content):
    file = tmp_path / "text.jpg"
    file.write_bytes(content)
    result = cli("predict", model, file)
    assert result.exit_code == 1
    assert "text.jpg cannot be decoded as a picture" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_picture(cli, model):
    result = cli("predict", model, "nowhere.png")
    assert result.exit_code == 1
    assert result.stderr == "Error: No such file or directory: nowhere.png\n"


def test_a_damaged_model(cli, model, tmp_path):
    half = tmp_path / "half.keras"
    half.write_bytes(model.read_bytes()[:1000])
    result = cli("predict", half, "a.png")
    assert result.exit_code == 1
    assert "half.keras is no readable `.keras` file" in result.stderr
