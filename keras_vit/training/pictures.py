"""Pictures inside a page: data URIs and the wall of all held-out images."""

import base64
import html
import io
import math

import numpy as np
from PIL import Image

from keras_vit.explain import rgb

GOOD_TINT, BAD_TINT = (94, 234, 212), (255, 122, 89)
# Pictures on the wall: more would be dots, and a page of many megabytes.
WALL = 480
SIDE, GAP = 32, 6  # pixels: of a picture on the wall, at most, and between two


def data_uri(picture):
    """Returns a picture `[h, w]` or `[h, w, c]`, 0 to 255, as a `data:` URI with a PNG."""
    file = io.BytesIO()
    Image.fromarray(rgb(picture)).save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def enlarged(picture, side):
    """Enlarges a small picture by a whole factor, with its pixels left square; a larger one is
    made smaller so that its long side is `side`."""
    picture = rgb(picture)
    factor = side // max(picture.shape[:2])
    if factor >= 1:
        return picture.repeat(factor, axis=0).repeat(factor, axis=1)
    shrunk = Image.fromarray(picture)
    shrunk.thumbnail((side, side), Image.Resampling.LANCZOS)
    return np.asarray(shrunk)


def wall(pictures, labels, predictions, class_names):
    """Draws many small pictures as one, in the order of the classes, with the mistakes marked.

    Grey pictures are tinted by whether the answer was right; around each mistake goes a ring
    that tells, under the pointer, what was taken for what.

    Args:
        pictures: `n` pictures of one size, 0 to 255.
        labels: int `[n]`.
        predictions: int `[n]`.
        class_names: names of the classes.

    Returns:
        SVG text.
    """
    labels, predictions = np.asarray(labels), np.asarray(predictions)
    rows = [row for row in _rows(labels, predictions) if len(row)]
    columns = max(map(len, rows))
    tiles = {index: enlarged(pictures[index], SIDE) for row in rows for index in row}
    height, width = (side + GAP for side in next(iter(tiles.values())).shape[:2])
    grey = all(np.ptp(tile, axis=-1).max() == 0 for tile in tiles.values())
    canvas = np.zeros((len(rows) * height, columns * width, 3), "uint8")
    rings = []
    for r, row in enumerate(rows):
        for c, index in enumerate(row):
            right = labels[index] == predictions[index]
            tint = np.array(GOOD_TINT if right else BAD_TINT) / 255 if grey else 1
            top, left = r * height + GAP // 2, c * width + GAP // 2
            place = np.s_[top : top + height - GAP, left : left + width - GAP]
            canvas[place] = tiles[index] * tint
            if not right:
                title = f"{class_names[labels[index]]} taken for {class_names[predictions[index]]}"
                rings.append(_ring(c * width, r * height, width, height, title))
    size = f"{columns * width} {len(rows) * height}"
    return (
        f'<svg class="wall" viewBox="0 0 {size}" role="img" aria-label="Held-out images">'
        f'<image width="100%" height="100%" href="{data_uri(canvas)}"/>{"".join(rings)}</svg>'
    )


def _rows(labels, predictions):
    """Indices for the wall: a row a class, or even rows when the classes are many."""
    rng = np.random.default_rng(0)
    count = min(WALL, len(labels))
    chosen = np.sort(rng.permutation(len(labels))[:count])
    order = chosen[np.lexsort((chosen, labels[chosen] == predictions[chosen], labels[chosen]))]
    classes = np.unique(labels)
    if len(classes) <= 12:
        return [order[labels[order] == label] for label in classes]
    return np.array_split(order, math.ceil(math.sqrt(count / 3.5)))


def _ring(x, y, width, height, title):
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{width / 6:.1f}">'
        f"<title>{html.escape(title)}</title></rect>"
    )
