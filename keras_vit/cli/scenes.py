"""Scenes to find things in: garments of Fashion-MNIST on photographs, as a COCO data set."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

from keras_vit.data.fashion_mnist import CLASSES, PARTS, read_part
from keras_vit.files import replacing
from keras_vit.layers.extras import require

# Photographs inside the wheels of scikit-image and scikit-learn. None is in both splits.
BACKGROUNDS = {
    "train": (
        "astronaut chelsea rocket camera grass brick gravel hubble_deep_field coins moon clock "
        "immunohistochemistry retina"
    ).split(),
    "test": ("coffee", "china.jpg", "flower.jpg"),
}
SIDE = 128
# Side of a garment in pixels, and how many of them a scene has.
SIZES, COUNTS = (28, 72), (1, 5)
# Of two garments the later one may hide so much of the earlier one.
HIDDEN = 0.3
# A garment is where its picture is lighter than this.
DARK = 16


def photographs(split):
    """Returns the photographs of a split, uint8 `[h, w, 3]` each.

    Raises:
        ImportError: if scikit-image is not installed.
    """
    data = require("skimage.data", extra="reference")
    from sklearn.datasets import load_sample_image

    found = []
    for name in BACKGROUNDS[split]:
        picture = load_sample_image(name) if "." in name else getattr(data, name)()
        picture = np.asarray(picture)
        found.append(picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, -1))
    return found


def scene(garments, labels, photograph, random):
    """Makes one scene.

    Args:
        garments: uint8 `[n, 28, 28]`, light on black.
        labels: `[n]`, the class of each.
        photograph: uint8 `[h, w, 3]`, at least 128 pixels each way.
        random: numpy `Generator`.

    Returns:
        (uint8 `[128, 128, 3]`, boxes `[m, 4]` in pixels: left, top, right, bottom, classes `[m]`).
        A box holds exactly the lit pixels of its garment, those that a later one hides included.
    """
    canvas = _background(photograph, random)
    boxes, classes = [], []
    for _ in range(random.integers(COUNTS[0], COUNTS[1] + 1)):
        number = random.integers(len(garments))
        side = int(random.integers(SIZES[0], SIZES[1] + 1))
        picture = Image.fromarray(garments[number]).resize((side, side), Image.Resampling.BILINEAR)
        lit = np.asarray(picture)
        rows, columns = (np.flatnonzero((lit > DARK).any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            continue
        lit = lit[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        high, wide = lit.shape
        for _ in range(20):
            top, left = (int(random.integers(SIDE - size + 1)) for size in (high, wide))
            box = np.array([left, top, left + wide, top + high])
            if all(_common(box, other) <= HIDDEN * _area(other) for other in boxes):
                break
        else:
            continue
        colour = random.uniform(0.5, 1.0, 3)
        part = canvas[top : top + high, left : left + wide]
        part[:] = np.where(lit[..., None] > DARK, lit[..., None] * colour, part)
        boxes.append(box)
        classes.append(int(labels[number]))
    return canvas, np.array(boxes).reshape(-1, 4), np.array(classes, "int64")


def write_scenes(source, folder, count, split, seed):
    """Writes scenes as a COCO data set, `SPLIT.json` and the pictures in `SPLIT/`.

    What is there already is left as it is.

    Args:
        source: folder of Fashion-MNIST's files, see `keras_vit.data.fashion_mnist`.
        folder: where to.
        count: number of scenes.
        split: `"train"` or `"test"`: of garments and photographs.
        seed: integer.

    Returns:
        The path of the JSON file.
    """
    path = Path(folder) / f"{split}.json"
    if path.exists():
        return path
    garments, labels = read_part(Path(source), *PARTS[split])
    pictures, random = photographs(split), np.random.default_rng([seed, count])
    images, annotations = [], []
    with replacing(path.with_suffix("")) as temporary:
        Path(temporary).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            picture = pictures[random.integers(len(pictures))]
            canvas, boxes, classes = scene(garments, labels, picture, random)
            name = f"{number:05}.png"
            Image.fromarray(canvas).save(Path(temporary) / name)
            images.append({"id": number, "file_name": name, "width": SIDE, "height": SIDE})
            for (left, top, right, bottom), label in zip(boxes.tolist(), classes, strict=True):
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": number,
                        "category_id": int(label),
                        "bbox": [left, top, right - left, bottom - top],
                        "area": (right - left) * (bottom - top),
                        "iscrowd": 0,
                    }
                )
    categories = [{"id": label, "name": name} for label, name in enumerate(CLASSES)]
    content = {"images": images, "annotations": annotations, "categories": categories}
    with replacing(path) as temporary:
        Path(temporary).write_text(json.dumps(content), "utf-8")
    return path


def _background(photograph, random):
    """A random part of a photograph, 128 pixels each way."""
    most = min(photograph.shape[:2])
    side = int(random.integers(min(SIDE, most), most + 1))
    top, left = (int(random.integers(size - side + 1)) for size in photograph.shape[:2])
    part = Image.fromarray(photograph[top : top + side, left : left + side])
    part = np.array(part.resize((SIDE, SIDE), Image.Resampling.BILINEAR))
    return part[:, ::-1].copy() if random.integers(2) else part


def _area(box):
    return (box[2] - box[0]) * (box[3] - box[1])


def _common(first, second):
    low, high = np.maximum(first[:2], second[:2]), np.minimum(first[2:], second[2:])
    return np.prod(np.maximum(high - low, 0))
