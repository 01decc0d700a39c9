import os

import pytest
import tensorflow as tf

from keras_vit.data import Unlabelled
from keras_vit.data.folder import folder_splits, open_folder, open_images
from tests.data.pictures import encode, noise, write_folder


def test_classes_and_files_in_order(tmp_path):
    write_folder(tmp_path, {"dog": 2, "cat": 3, "Zebra": 1})
    records = open_folder(tmp_path)
    assert records.class_names == ("Zebra", "cat", "dog")
    assert records.labels.tolist() == [0, 1, 1, 1, 2, 2]
    assert records.name(1) == str(tmp_path / "cat/000.png")
    read = tf.data.Dataset.range(len(records)).map(records.encoded)
    for index, encoded in enumerate(read.as_numpy_iterator()):
        assert encoded == records.read(index)


def test_odd_names_nested_folders_and_what_is_passed_over(tmp_path):
    picture = encode(noise(4, 4, 3), "PNG")
    used = ["Zürich/日本 🐈.PNG", "Zürich/deep/er/x.jpeg", "ÿ/a'b\"c.webp"]
    passed = [
        "Zürich/notes.txt",
        "Zürich/.hidden.png",
        "Zürich/.git/x.png",
        ".cache/x.png",
        "x.png",
    ]
    for path in used + passed:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(picture)
    records = open_folder(tmp_path)
    assert records.class_names == ("Zürich", "ÿ")
    names = {records.name(i) for i in range(len(records))}
    assert names == {str(tmp_path / path) for path in used}
    for index in range(len(records)):
        assert records.encoded(tf.constant(index)).numpy() == picture


@pytest.mark.skipif(os.name != "posix", reason="file names are Unicode there")
def test_a_file_name_that_is_not_unicode(tmp_path):
    write_folder(tmp_path, {"a": 1})
    picture = encode(noise(4, 4, 3), "PNG")
    with open(os.path.join(os.fsencode(tmp_path), b"a", b"\xff\xfe.png"), "wb") as file:
        file.write(picture)
    records = open_folder(tmp_path)
    assert len(records) == 2 and records.fingerprint()
    assert records.encoded(tf.constant(1)).numpy() == picture


def test_splits_on_top(tmp_path):
    write_folder(tmp_path / "train", {"cat": 3, "dog": 2, "eel": 1})
    write_folder(tmp_path / "test", {"dog": 2})
    assert folder_splits(tmp_path) == ("train", "test")
    records = open_folder(tmp_path, "test")
    assert records.class_names == ("cat", "dog", "eel")  # a class keeps its number
    assert records.labels.tolist() == [1, 1]
    write_folder(tmp_path / "test", {"fox": 1})
    with pytest.raises(ValueError, match=r"has not: \['fox'\]"):
        open_folder(tmp_path, "test")


def test_a_class_called_train_is_no_split(tmp_path):
    write_folder(tmp_path, {"train": 2, "bus": 3})
    assert folder_splits(tmp_path) == ()
    assert open_folder(tmp_path).class_names == ("bus", "train")


def test_no_folder_a_file_an_empty_folder_no_classes(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no image folder .*nowhere"):
        open_folder(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="is empty: put the images of each class in a subfolder"):
        open_folder(tmp_path)
    (tmp_path / "x.png").write_bytes(encode(noise(4, 4, 3), "PNG"))
    with pytest.raises(ValueError, match="has 1 images but no subfolders"):
        open_folder(tmp_path)
    with pytest.raises(ValueError, match="one subfolder a class. Received: .*x.png"):
        open_folder(tmp_path / "x.png")


def test_classes_without_an_image(tmp_path):
    write_folder(tmp_path, {"cat": 1, "dog": 0, "eel": 0})
    (tmp_path / "dog" / "x.tiff").write_bytes(b"")
    with pytest.raises(ValueError, match=r"none for \['dog', 'eel'\]. Add images ending in .jpg"):
        open_folder(tmp_path)


@pytest.mark.parametrize("pair", [("cat", "Cat"), ("Z\u00fcrich", "Zu\u0308rich")], ids=ascii)
def test_two_classes_of_one_name(tmp_path, pair):
    write_folder(tmp_path, dict.fromkeys(pair, 1))
    if len(list(tmp_path.iterdir())) < 2:
        pytest.skip("the file system holds them to be one")
    with pytest.raises(ValueError, match="has two classes of one name, .*: merge them, or rename"):
        open_folder(tmp_path)


def test_pictures_without_labels(tmp_path):
    write_folder(tmp_path / "deep", {"b": 1, "a": 2})
    single = tmp_path / "x.jpg"
    single.write_bytes(b"x")
    records = open_images([single, tmp_path / "deep"])
    names = [
        single,
        *(tmp_path / "deep" / name for name in ("a/000.png", "a/001.png", "b/000.png")),
    ]
    assert [records.name(i) for i in range(4)] == [str(name) for name in names]
    assert isinstance(records.targets, Unlabelled) and records.read(0) == b"x"
    assert records.encoded(tf.constant(3)).numpy() == names[3].read_bytes()
    with pytest.raises(FileNotFoundError, match="no picture or folder .*nowhere"):
        open_images([tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no picture in .*empty: none ends in .jpg"):
        open_images([tmp_path / "empty"])
