"""A small COCO data set of squares, which the tests of commands use."""

import json

import numpy as np
from PIL import Image


def write_squares(folder, count=6, names=("cat", "dog")):
    """Writes pictures with one square each, and the JSON; returns its path."""
    random = np.random.default_rng(2)
    images, annotations = [], []
    for number in range(count):
        picture = random.integers(0, 60, (40, 50, 3)).astype("uint8")
        left, top = (int(random.integers(2, 20)) for _ in range(2))
        picture[top : top + 18, left : left + 18, number % 3] = 255
        Image.fromarray(picture).save(folder / f"{number}.png")
        images.append({"id": number, "file_name": f"{number}.png", "width": 50, "height": 40})
        annotations.append(
            {"image_id": number, "category_id": number % len(names), "bbox": [left, top, 18, 18]}
        )
    categories = [{"id": number, "name": name} for number, name in enumerate(names)]
    path = folder / "squares.json"
    path.write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": categories})
    )
    return path
