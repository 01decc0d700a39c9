"""Boxes around things: the targets of detection, and COCO's file of them."""

import dataclasses
import json
from pathlib import Path

import numpy as np

from keras_vit.data.folder import FolderSource
from keras_vit.data.naming import classes, distinct
from keras_vit.data.records import Records
from keras_vit.data.targets import gathered, names, text_bytes

# The label of a row that only fills a batch up.
NO_BOX = -1
# How far a box of a COCO file may reach beyond its image, as a share of it: it is then cut.
OUTSIDE = 0.1


@dataclasses.dataclass(frozen=True, eq=False)
class Boxes:
    """Any number of boxes an image, each with a class.

    Args:
        class_names: names of the classes.
        boxes: float32 `[n, most, 4]`: left, top, right, bottom as shares of the image's width
            and height, 0 to 1; zeros where an image has fewer than `most`.
        labels: int64 `[n, most]`, the class of each box, -1 where there is none.
    """

    class_names: tuple
    boxes: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, class_names, boxes, labels):
        """Returns the targets for a list of boxes and one of labels for each image.

        Raises:
            ValueError: for a box outside the image or without area, or a box without a label.
        """
        # One place at least: matching looks for the best of them.
        most = max(1, max(map(len, boxes), default=0))
        all_boxes = np.zeros((len(boxes), most, 4), "float32")
        all_labels = np.full((len(boxes), most), NO_BOX, "int64")
        for number, (rows, row) in enumerate(zip(boxes, labels, strict=True)):
            rows = np.asarray(rows, "float32").reshape(-1, 4)
            if len(rows) != len(row):
                raise ValueError(
                    f"Every box needs a label; image {number + 1} has {len(rows)} boxes and "
                    f"{len(row)} labels."
                )
            if not ((rows[:, :2] >= 0) & (rows[:, :2] < rows[:, 2:]) & (rows[:, 2:] <= 1)).all():
                raise ValueError(
                    "A box must be left, top, right, bottom as shares of the image, 0 to 1, the "
                    f"first two the smaller ones. Received: {rows.tolist()} for image "
                    f"{number + 1}."
                )
            all_boxes[number, : len(rows)], all_labels[number, : len(rows)] = rows, row
        return cls(names(class_names), all_boxes, all_labels)

    def __len__(self):
        return len(self.boxes)

    @property
    def class_sizes(self):
        """Number of boxes of each class."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.class_names))

    @property
    def groups(self):
        return np.zeros(len(self), "int64")

    def for_training(self, index):
        """Returns a dict of `boxes`, `[..., most, 4]`, and `labels`, `[..., most]`."""
        return ({"boxes": gathered(self.boxes, index), "labels": gathered(self.labels, index)},)

    for_evaluation = for_training

    def select(self, indices):
        return dataclasses.replace(self, boxes=self.boxes[indices], labels=self.labels[indices])

    def digest(self):
        return text_bytes(repr(self.class_names)) + self.boxes.tobytes() + self.labels.tobytes()


def boxes_of(boxes, values, where, known=None):
    """Returns `Boxes` for lists of boxes and of their classes, by name or number.

    Args:
        boxes: for each image a list of boxes; see `Boxes`.
        values: for each image a list of class names or numbers.
        where: what to call the data in messages.
        known: class names, if they are listed; see `keras_vit.data.naming.classes`.
    """
    found = classes([value for row in values for value in row], where, known)
    ends = np.cumsum([len(row) for row in values])
    return Boxes.of(found.class_names, boxes, np.split(found.labels, ends[:-1]))


def open_coco(path, split=None):
    """Opens COCO's JSON of `images`, `annotations` and `categories`.

    Args:
        path: the file. Images are looked for beside it, or in the folder of its name.
        split: None: each split has a file of its own.

    Returns:
        `Records` with `Boxes`. Boxes of crowds and boxes without area are left out.

    Raises:
        FileNotFoundError: if there is no such file, or not one of its images.
        ValueError: if it is not of that form, or a box is outside its image, inverted, or of an
            image or a category that the file does not list.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no COCO file {path}.")
    try:
        content = json.loads(path.read_text("utf-8"))
        images, categories = content["images"], content["categories"]
        annotations = content["annotations"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not a COCO file: it must hold `images`, `annotations` and `categories`."
        ) from error
    boxes, labels = _annotated(images, annotations, categories, path)
    class_names = distinct([str(category["name"]) for category in categories], path)
    targets = Boxes.of(class_names, boxes, labels)
    beside = path.parent / path.stem
    folder = beside if beside.is_dir() else path.parent
    names = tuple(image["file_name"] for image in images)
    missing = next((name for name in names if not (folder / name).is_file()), None)
    if missing is not None:
        raise FileNotFoundError(f"{path} lists the image {missing}, which is not in {folder}.")
    return Records(FolderSource(folder, names), targets, np.arange(len(images)))


def _annotated(images, annotations, categories, path):
    """The boxes and the labels of each image, two lists in the order of the images."""
    numbers = {category["id"]: number for number, category in enumerate(categories)}
    sizes = {image["id"]: (image["width"], image["height"]) for image in images}
    boxes, labels = {number: [] for number in sizes}, {number: [] for number in sizes}
    for annotation in annotations:
        image, category = annotation["image_id"], annotation["category_id"]
        if image not in sizes:
            raise ValueError(f"{path} has a box for the image {image!r}, which it does not list.")
        if category not in numbers:
            raise ValueError(
                f"{path} has a box of the category {category!r}, which it does not list: its "
                f"categories are {', '.join(map(str, numbers))}."
            )
        box = _shares(annotation["bbox"], sizes[image], f"the image {image!r} of {path}")
        if not annotation.get("iscrowd") and box[0] < box[2] and box[1] < box[3]:
            boxes[image].append(box)
            labels[image].append(numbers[category])
    return list(boxes.values()), list(labels.values())


def _shares(box, size, where):
    """COCO's left, top, width, height in pixels, cut to the image."""
    try:
        left, top, wide, high = map(float, box)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"A box must be four numbers: left, top, width, height. Received: {box!r} for {where}."
        ) from error
    corners = np.array([left, top, left + wide, top + high]) / np.tile(size, 2)
    beyond = (corners < -OUTSIDE).any() or (corners > 1 + OUTSIDE).any()
    if not np.isfinite(corners).all() or wide < 0 or high < 0 or beyond:
        raise ValueError(
            "A box must be left, top, width, height in pixels (not the right and bottom edge), "
            f"inside the image of {size[0]}x{size[1]}. Received: {list(box)} for {where}."
        )
    return np.clip(corners, 0.0, 1.0).astype("float32")
