"""A look at data before anything is trained on it: duplicates, and a sheet of pictures."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from PIL import Image, ImageDraw

from keras_vit.data.decode import decode, fit
from keras_vit.files import replacing
from keras_vit.layers import Preprocessing

SIDE = 96  # pixels of a picture on the sheet
_LINE = 16  # pixels of a line of text
_GAP = 4


def duplicates(parts, threads=8):
    """Finds files that are the same byte for byte, across splits too.

    Args:
        parts: dict of name to `Records`.
        threads: how many files are read at once.

    Returns:
        A list of groups, each a list of two or more (name of the part, index), in order.
    """
    places = [(part, index) for part, records in parts.items() for index in range(len(records))]

    def digest(place):
        part, index = place
        try:
            return hashlib.sha256(parts[part].read(index)).digest()
        except OSError:  # `scan` tells of it
            return None

    groups = {}
    with ThreadPoolExecutor(threads) as pool:
        for place, found in zip(places, pool.map(digest, places), strict=True):
            if found is not None:
                groups.setdefault(found, []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def contact_sheet(records, path, columns=8, rows=12):
    """Draws some pictures of each class, as a model will see them, squashed to squares.

    Args:
        records: `Records` that can all be read.
        path: the PNG to write.
        columns: pictures of a class.
        rows: most classes, or rows of pictures where there are no classes.
    """
    lines = _lines(records, columns, rows)
    size = (columns * (SIDE + _GAP), len(lines) * (SIDE + _LINE + _GAP))
    sheet = Image.new("RGB", size, "white")
    value = Preprocessing(image_size=SIDE)
    for row, (title, indices) in enumerate(lines):
        top = row * (SIDE + _LINE + _GAP)
        # The font that comes with Pillow knows Latin letters only.
        title = title.encode("latin-1", "replace").decode("latin-1")
        ImageDraw.Draw(sheet).text((2, top + 2), title, fill="black")
        for column, index in enumerate(indices):
            pixels = np.uint8(fit(decode(records.read(index)), value))
            sheet.paste(Image.fromarray(pixels), (column * (SIDE + _GAP), top + _LINE))
    with replacing(path) as temporary:
        sheet.save(temporary, "PNG")


def _lines(records, columns, rows):
    """(title, indices) of each row: at even distances, so that what is sorted is seen through."""
    labels = np.asarray(getattr(records.targets, "labels", ()))
    names = records.class_names
    if not names or labels.ndim > 2 or labels.shape[0] != len(records):
        chosen = _spread(np.arange(len(records)), columns * rows)
        return [("", chosen[i : i + columns]) for i in range(0, len(chosen), columns)]
    lines = []
    for number in _spread(np.arange(len(names)), rows):
        has = labels == number if labels.ndim == 1 else labels[:, number] > 0
        lines.append((names[number], _spread(np.flatnonzero(has), columns)))
    return lines


def _spread(values, most):
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(int)]
