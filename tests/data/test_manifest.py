import json

import numpy as np
import pytest

from keras_vit.data import Boxes, Captions, Tags, Unlabelled, available_splits, open_data
from tests.data.pictures import encode, noise

PICTURE = encode(noise(4, 4, 3), "PNG")


def csv(folder, text, name="data.csv"):
    (folder / name).write_text(text, "utf-8")
    return folder / name


def jsonl(folder, *rows):
    return csv(folder, "".join(json.dumps(row) + "\n" for row in rows), "data.jsonl")


def test_paths_are_from_the_manifests_folder_or_absolute(tmp_path):
    inner, outer = tmp_path / "data" / "a b.png", tmp_path / "ü.png"
    inner.parent.mkdir()
    inner.write_bytes(PICTURE)
    outer.write_bytes(PICTURE + b"x")
    records = open_data(csv(tmp_path / "data", f"path,label\na b.png,dog\n{outer},cat\n"))
    assert records.class_names == ("cat", "dog") and records.labels.tolist() == [1, 0]
    assert records.name(0) == str(inner) and records.read(1) == PICTURE + b"x"
    assert records.encoded(0).numpy() == PICTURE


def test_splits_share_their_classes(tmp_path):
    path = csv(tmp_path, "split,path,label\ntrain,a,2\ntest,b,10\ntrain,c,2\n")
    assert available_splits(path) == ("train", "test")
    test = open_data(path, "val")  # test stands for val
    assert len(test) == 1 and test.class_names == ("2", "10") and test.labels.tolist() == [1]
    with pytest.raises(ValueError, match=r"one of \('train', 'test'\).*Received: None"):
        open_data(path)


def test_a_list_of_labels_beside_it(tmp_path):
    (tmp_path / "labels.txt").write_text("zebra\nant\n")
    assert open_data(csv(tmp_path, "path,label\na,1\nb,zebra\n")).labels.tolist() == [1, 0]
    with pytest.raises(ValueError, match="data.csv has the label '2', .* 2 classes"):
        open_data(csv(tmp_path, "path,label\na,2\n"))


def test_several_labels(tmp_path):
    expected = [[1, 1, 0], [0, 0, 0], [0, 1, 1]]
    table = open_data(csv(tmp_path, "path,labels\na,cat| dog\nb,\nc,eel;dog\n"))
    lines = open_data(
        jsonl(
            tmp_path,
            {"path": "a", "labels": ["cat", "dog"]},
            {"path": "b"},
            {"path": "c", "labels": "eel|dog"},
        )
    )
    for records in (table, lines):
        assert isinstance(records.targets, Tags) and records.class_names == ("cat", "dog", "eel")
        np.testing.assert_array_equal(records.labels, expected)


def test_captions_boxes_and_nothing(tmp_path):
    captions = open_data(csv(tmp_path, 'path,text\na,"a cat, asleep"\n'))
    assert isinstance(captions.targets, Captions) and captions.targets.texts == ("a cat, asleep",)
    assert isinstance(open_data(csv(tmp_path, "path\na\nb\n")).targets, Unlabelled)
    boxes = open_data(
        jsonl(
            tmp_path,
            {"path": "a", "boxes": [[0, 0.25, 0.5, 1]], "labels": ["cat"]},
            {"path": "b", "boxes": [], "labels": []},
        )
    )
    assert isinstance(boxes.targets, Boxes)
    assert boxes.targets.boxes.tolist() == [[[0, 0.25, 0.5, 1]], [[0, 0, 0, 0]]]
    assert boxes.targets.labels.tolist() == [[0], [-1]]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "lists no image"),
        ("path,label\n", "lists no image"),
        ("file,label\na,b\n", "needs a column `path`. It has: file, label"),
        ("path,label\na,cat\nb,\n", "Image 2 of .*data.csv has no `label`"),
        ("path,label\na,cat\nb,Cat\n", "two classes of one name, 'Cat' and 'cat'"),
        ("path,label,split\na,cat,train\nb,cat,\n", "Image 2 of .* has no `split`"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        open_data(csv(tmp_path, text), "train" if "split" in text else None)


def test_a_missing_file_and_lines_that_are_no_objects(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no manifest .*labels.csv"):
        open_data(tmp_path / "labels.csv")
    with pytest.raises(ValueError, match="Line 2 of .*data.jsonl is not JSON"):
        open_data(csv(tmp_path, '{"path": "a"}\n{"path": \n', "data.jsonl"))
    with pytest.raises(ValueError, match=r"must be a JSON object. Received: \[1\]"):
        open_data(jsonl(tmp_path, [1]))
