import numpy as np
from PIL import Image

from keras_vit.data import from_arrays, open_data
from keras_vit.data.inspection import SIDE, contact_sheet, duplicates
from tests.data.pictures import write_folder


def test_duplicates_within_and_across_splits(tmp_path):
    write_folder(tmp_path / "train", {"cat": 3, "dog": 2})
    write_folder(tmp_path / "test", {"eel": 1, "cat": 1, "dog": 1})  # the first three pictures
    (tmp_path / "test" / "eel").rename(tmp_path / "test" / "cat2")
    (tmp_path / "test" / "cat2" / "000.png").rename(tmp_path / "test" / "cat" / "001.png")
    (tmp_path / "test" / "cat2").rmdir()
    twin = tmp_path / "train" / "dog" / "twin.png"
    twin.write_bytes((tmp_path / "train" / "dog" / "000.png").read_bytes())
    parts = {name: open_data(tmp_path, name) for name in ("train", "test")}
    found = [
        [parts[p].name(i).removeprefix(f"{tmp_path}/") for p, i in g] for g in duplicates(parts)
    ]
    assert found == [
        ["train/cat/000.png", "test/cat/001.png"],
        ["train/cat/001.png", "test/cat/000.png"],
        ["train/cat/002.png", "test/dog/000.png"],
        ["train/dog/000.png", "train/dog/twin.png"],
    ]


def grey(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("L"))


def test_a_sheet_has_the_pictures_of_each_class_in_its_row(tmp_path):
    levels = np.arange(12, dtype="uint8") * 20
    images = np.broadcast_to(levels[:, None, None], (12, 5, 4))
    records = from_arrays(images, [0, 1] * 6, ["even", "日本"])
    path = tmp_path / "new" / "sheet.png"
    contact_sheet(records, path, columns=3)
    sheet = grey(path)
    height, width = sheet.shape[0] // 2, sheet.shape[1] // 3
    assert width > SIDE and height > SIDE
    middles = [[sheet[r * height + 64, c * width + 48] for c in range(3)] for r in range(2)]
    assert middles == [[0, 80, 200], [20, 100, 220]]  # images 0, 4 and 10; 1, 5 and 11
    contact_sheet(from_arrays(images), path, columns=5)
    assert len(grey(path)) == 3 * height  # without classes: row after row
