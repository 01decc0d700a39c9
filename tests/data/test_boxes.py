import json

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import Boxes, open_data

BOXES = [[[0, 0, 0.5, 1], [0.25, 0.5, 1, 0.75]], [], [[0.1, 0.2, 0.3, 0.4]]]
LABELS = [[1, 0], [], [1]]


def test_rows_are_filled_up():
    targets = Boxes.of("ab", BOXES, LABELS)
    assert targets.class_sizes.tolist() == [1, 2] and len(targets) == 3
    (got,) = targets.for_training(tf.constant([2, 0]))
    np.testing.assert_allclose(got["boxes"], [[*BOXES[2], [0] * 4], BOXES[0]], rtol=1e-6)
    assert got["labels"].numpy().tolist() == [[1, -1], [1, 0]]
    assert targets.select([1, 2]).labels.tolist() == [[-1, -1], [1, -1]]
    assert targets.digest() != Boxes.of("ab", BOXES, [[0, 0], [], [1]]).digest()


@pytest.mark.parametrize(
    "box", [[0, 0, 12, 8], [0.5, 0, 0.5, 1], [0.5, 0, 0.2, 1], [-0.1, 0, 0.5, 1]], ids=str
)
def test_boxes_are_checked(box):
    with pytest.raises(ValueError, match="as shares of the image.* for image 2"):
        Boxes.of("a", [[], [box]], [[], [0]])


def test_every_box_needs_a_label():
    with pytest.raises(ValueError, match="image 1 has 2 boxes and 1 labels"):
        Boxes.of("ab", BOXES, [[1], [], [1]])


def test_coco(tmp_path):
    content = {
        "images": [
            {"id": 7, "file_name": "a.jpg", "width": 200, "height": 100},
            {"id": 3, "file_name": "b.jpg", "width": 10, "height": 10},
        ],
        "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}],
        "annotations": [
            {"image_id": 7, "category_id": 1, "bbox": [50, 25, 100, 50], "iscrowd": 0},
            {"image_id": 7, "category_id": 18, "bbox": [190, 0, 20, 100]},  # beyond the edge
            {"image_id": 7, "category_id": 18, "bbox": [0, 0, 9, 9], "iscrowd": 1},
            {"image_id": 3, "category_id": 18, "bbox": [1, 1, 0, 5]},  # without area
        ],
    }
    path = tmp_path / "val.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FileNotFoundError, match="lists the image a.jpg, which is not in"):
        open_data(path)
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(b"")
    records = open_data(path)
    assert records.class_names == ("dog", "person")
    assert records.targets.labels.tolist() == [[1, 0], [-1, -1]]
    np.testing.assert_allclose(
        records.targets.boxes[0], [[0.25, 0.25, 0.75, 0.75], [0.95, 0, 1, 1]], rtol=1e-6
    )
    assert records.name(1) == str(tmp_path / "b.jpg")
    (tmp_path / "val").mkdir()
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).rename(tmp_path / "val" / name)
    assert open_data(path).name(1) == str(tmp_path / "val" / "b.jpg")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bbox": [50, 25, 190, 90]}, "not the right and bottom edge.*inside the image of 200x100"),
        ({"bbox": [-50, 0, 60, 10]}, "inside the image of 200x100. Received: .-50, 0, 60, 10"),
        ({"bbox": [50, 25, -10, 5]}, "left, top, width, height in pixels"),
        ({"bbox": [1, 2, float("nan"), 3]}, "left, top, width, height in pixels"),
        ({"bbox": [1, 2, 3]}, "must be four numbers.*Received: .1, 2, 3. for the image 7"),
        ({"bbox": None}, "must be four numbers"),
        ({"image_id": 9}, "a box for the image 9, which it does not list"),
        ({"category_id": 2}, "a box of the category 2, which it does not list: .* are 1$|are 1\\."),
    ],
    ids=str,
)
def test_wrong_boxes_of_a_coco_file(change, message, tmp_path):
    box = {"image_id": 7, "category_id": 1, "bbox": [1, 2, 3, 4], **change}
    content = {
        "images": [{"id": 7, "file_name": "a.jpg", "width": 200, "height": 100}],
        "categories": [{"id": 1, "name": "person"}],
        "annotations": [box],
    }
    (tmp_path / "a.jpg").write_bytes(b"")
    (tmp_path / "x.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        open_data(tmp_path / "x.json")


def test_not_coco(tmp_path):
    with pytest.raises(FileNotFoundError, match="no COCO file .*x.json"):
        open_data(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('{"images": []}')
    with pytest.raises(ValueError, match="must hold `images`, `annotations` and `categories`"):
        open_data(tmp_path / "x.json")
