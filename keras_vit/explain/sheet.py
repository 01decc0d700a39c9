"""Many pictures on one, with a line of text under each."""

import math

import numpy as np
from PIL import Image, ImageDraw

from keras_vit.explain.overlay import rgb

GAP, LINE = 6, 16  # pixels: between pictures, and the height of a caption


def sheet(pictures, captions, columns=None):
    """Lays pictures out in rows, as near to a square as their number allows.

    Args:
        pictures: pictures 0 to 255 of one size, `[h, w]`, `[h, w, 1]` or `[h, w, 3]`.
        captions: a text for each; cut off where it is wider than the picture.
        columns: pictures a row; chosen by their number by default.

    Returns:
        A numpy array, uint8 `[h, w, 3]`, white between the pictures.

    Raises:
        ValueError: without a picture, or for pictures of different sizes.
    """
    tiles = [rgb(picture) for picture in pictures]
    if len({tile.shape for tile in tiles}) != 1:
        raise ValueError(
            "`pictures` must be one picture or more, of one size. Received: sizes "
            f"{sorted({tile.shape[:2] for tile in tiles})}."
        )
    columns = columns or math.ceil(math.sqrt(len(tiles)))
    height, width = tiles[0].shape[0] + LINE + GAP, tiles[0].shape[1] + GAP
    size = (columns * width + GAP, math.ceil(len(tiles) / columns) * height + GAP)
    canvas = Image.new("RGB", size, "white")
    for index, (tile, caption) in enumerate(zip(tiles, captions, strict=True)):
        top, left = index // columns * height + GAP, index % columns * width + GAP
        canvas.paste(Image.fromarray(tile), (left, top))
        canvas.paste(_line(caption, tile.shape[1]), (left, top + tile.shape[0]))
    return np.asarray(canvas)


def _line(text, width):
    line = Image.new("RGB", (width, LINE), "white")
    # The font that comes with Pillow knows Latin letters only.
    text = text.encode("latin-1", "replace").decode("latin-1")
    ImageDraw.Draw(line).text((0, 2), text, fill="black")
    return line
