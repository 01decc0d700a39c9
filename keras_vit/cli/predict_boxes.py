"""`keras-vit predict` of a detector."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from rich.table import Table
from rich.text import Text

from keras_vit.cli.console import out

# Boxes below it are neither shown nor drawn.
LEAST = 0.3


def predict_boxes(predictor, images, top, picture=None):
    """Prints what is where in pictures, and draws it.

    Args:
        predictor: a `DetectorPredictor`.
        images: paths of pictures.
        top: how many boxes to show of each.
        picture: where to draw: a file for one image, or a folder; or None.

    Raises:
        ValueError: for several images and one picture to draw to.
    """
    targets = _targets(images, picture)
    found = predictor.detect_files(images, least=LEAST, most=top)
    for image, answer, target in zip(images, found, targets, strict=True):
        out.print(Text(str(image), style="bold"), soft_wrap=True)
        with Image.open(image) as opened:
            # As the model saw it: the right way up.
            turned = ImageOps.exif_transpose(opened).convert("RGB")
        out.print(_table(predictor, answer, turned.size))
        if target is not None:
            _draw(turned, predictor, answer, target)
            out.print(f"Drawn to {target}", soft_wrap=True)


def _targets(images, picture):
    """Where each image is drawn to."""
    if picture is None:
        return [None] * len(images)
    if not picture.suffix:
        return [picture / f"{Path(image).stem}.png" for image in images]
    if len(images) > 1:
        raise ValueError(f"`--out` must be a folder for {len(images)} images. Received: {picture}.")
    return [picture]


def _name(predictor, label):
    return predictor.class_names[label] if predictor.class_names else str(label)


def _table(predictor, answer, size):
    """Class, probability, and left, top, right, bottom in pixels."""
    table = Table(box=None, show_header=False, pad_edge=False)
    pixels = np.round(answer.boxes * np.tile(size, 2)).astype(int)
    for box, label, score in zip(pixels, answer.labels, answer.scores, strict=True):
        table.add_row(
            Text(f"  {_name(predictor, label)}", style="bold cyan"),
            Text(f"{100 * score:5.1f} %"),
            Text("  " + ", ".join(map(str, box)), style="dim"),
        )
    if not len(answer):
        table.add_row(Text(f"  nothing that is surer than {100 * LEAST:.0f} %", style="dim"))
    return table


def _draw(picture, predictor, answer, path):
    from keras_vit.explain.boxes import draw_boxes

    captions = [
        f"{_name(predictor, label)} {100 * score:.0f} %"
        for label, score in zip(answer.labels, answer.scores, strict=True)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    draw_boxes(picture, answer.boxes, captions, answer.labels).save(path)
