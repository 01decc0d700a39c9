"""Data as users have it, through the command: one sentence each, or what can be done with it."""

import csv

import pytest
from PIL import Image

from tests.data.pictures import noise, write_folder
from tests.data.test_headers import claiming

ONCE = (
    *("--set", "epochs=1", "--set", "warmup_epochs=0", "--set", "config.depth=1"),
    *("--set", "config.width=16", "--set", "config.num_heads=2"),
)


def no_manifest(folder):
    return folder / "labels.csv"


def no_label(folder):
    write_folder(folder, {"cat": 3})
    (folder / "data.csv").write_text("path,label\ncat/000.png,cat\ncat/001.png,\n")
    return folder / "data.csv"


def out_of_range(folder):
    (folder / "labels.txt").write_text("cat\ndog\n")
    (folder / "data.csv").write_text("path,label\na.png,0\nb.png,2\n")
    return folder / "data.csv"


def one_class(folder):
    return write_folder(folder / "data", {"cat": 5})


def one_name(folder):
    return write_folder(folder / "data", {"Cat": 3, "cat": 3})


def empty_split(folder):
    write_folder(folder / "train", {"cat": 3, "dog": 3})
    (folder / "test" / "cat").mkdir(parents=True)
    return folder


def no_labels_at_all(folder):
    write_folder(folder, {"cat": 3})
    (folder / "data.csv").write_text("path\ncat/000.png\ncat/001.png\n")
    return folder / "data.csv"


def nothing_readable(folder):
    write_folder(folder / "data", {"cat": 3, "dog": 1})
    (folder / "data" / "dog" / "000.png").write_bytes(b"text")
    return folder / "data"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (no_manifest, "There is no manifest"),
        (no_label, "has no `label`: every image needs one, or none"),
        (out_of_range, "has the label '2', which is neither a name nor a number of the 2 classes"),
        (one_class, "All images are of one class, 'cat', and there is nothing to tell apart"),
        (one_name, "has two classes of one name, 'Cat' and 'cat': merge them, or rename one"),
        (empty_split, "Every class needs an image; in"),
        (no_labels_at_all, "Unlabelled; sort them into folders, one a class"),
        (nothing_readable, "No image can be read of the classes ['dog']"),
    ],
)
def test_what_cannot_be_trained_on_is_one_sentence(cli, tmp_path, make, text):
    result = cli("train", "digits", make(tmp_path), "--out", tmp_path / "run", *ONCE)
    assert result.exit_code == 1
    assert text in result.stderr
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    assert "unexpected" not in result.stderr


@pytest.mark.prove
def test_what_can_be_is_trained_on(cli, tmp_path):
    """Mixed channels, a bomb, a wide picture, and fewer images than a batch."""
    data = write_folder(tmp_path / "data", {"cat": 4, "dog": 4}, size=(9, 8))
    for number, mode in enumerate(("L", "RGBA", "P", "CMYK", "I;16")):
        kind = "jpg" if mode == "CMYK" else "png"
        pixels = Image.fromarray(noise(9, 8, 3, seed=number))
        if mode == "I;16":
            pixels = pixels.convert("L").convert("I").point(lambda level: level * 257)
        pixels.convert(mode).save(data / "cat" / f"{mode[0]}.{kind}")
    Image.new("L", (30_000, 2), 77).save(data / "dog" / "wide.png")
    (data / "dog" / "bomb.png").write_bytes(claiming("PNG", 30_000, 30_000))
    result = cli("train", "digits", data, "--out", tmp_path / "run", *ONCE)
    assert result.exit_code == 0, result.output
    assert "1 of 15 images cannot be read" in result.stdout
    assert "bomb.png\tmore than 89,478,485 pixels" in (tmp_path / "run" / "skipped.txt").read_text()
    (row,) = csv.DictReader((tmp_path / "run" / "history.csv").read_text().splitlines())
    assert 0 < float(row["loss"]) < 5
