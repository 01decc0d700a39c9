"""Heat maps over pictures."""

import numpy as np
from PIL import Image

# Up to this share of the heat's colour covers the picture, where the heat is greatest.
STRENGTH = 0.75


def overlay(picture, heat, colours="inferno"):
    """Lays a heat map over a picture: cold parts dim and grey, hot parts bright and coloured.

    Args:
        picture: uint8 `[h, w]`, `[h, w, 1]` or `[h, w, 3]`, values 0 to 255.
        heat: `[rows, columns]`, any scale; spread over the picture from its least to its
            greatest value, with smooth passages.
        colours: the name of a matplotlib colour map.

    Returns:
        A numpy array, uint8 `[h, w, 3]`.

    Raises:
        ValueError: for a picture or a heat map of another shape.

    Example:

    >>> import numpy as np
    >>> overlay(np.zeros((8, 12), "uint8"), np.eye(2)).shape
    (8, 12, 3)
    """
    import matplotlib  # half a second that only pictures need

    picture = rgb(picture).astype("float64") / 255
    height, width = picture.shape[:2]
    heat = _spread(heat, height, width)[..., None]
    colour = matplotlib.colormaps[colours](heat[..., 0])[..., :3]
    # The grey of the picture stays where it is cold, so that the colour alone says where to look.
    grey = picture.mean(axis=-1, keepdims=True) * (0.55 + 0.45 * heat)
    cover = STRENGTH * heat
    return np.rint(255 * (grey * (1 - cover) + colour * cover)).astype("uint8")


def rgb(picture):
    """Returns a picture `[h, w]`, `[h, w, 1]` or `[h, w, 3]` as uint8 `[h, w, 3]`.

    Raises:
        ValueError: for another shape.
    """
    picture = np.asarray(picture)
    if picture.ndim == 2:
        picture = picture[..., None]
    if picture.ndim != 3 or picture.shape[-1] not in (1, 3):
        raise ValueError(
            f"`picture` must be [h, w], [h, w, 1] or [h, w, 3]. Received: shape {picture.shape}."
        )
    picture = np.clip(np.rint(picture.astype("float64")), 0, 255).astype("uint8")
    return np.broadcast_to(picture, (*picture.shape[:2], 3)).copy()


def visible_part(picture, preprocessing):
    """Cuts out of a picture, in its own resolution, what a model sees of it.

    Args:
        picture: `[h, w, c]`.
        preprocessing: the model's `Preprocessing`. `"squash"` sees everything; `"crop"` sees
            the centre.

    Returns:
        A view of the picture.

    Example:

    >>> import numpy as np
    >>> from keras_vit.layers import Preprocessing
    >>> visible_part(np.zeros((100, 300, 3)), Preprocessing(224, resize="crop", crop=0.5)).shape
    (50, 50, 3)
    """
    if preprocessing.resize == "squash":
        return picture
    height, width = picture.shape[:2]
    rows, columns = preprocessing.image_size
    # The picture is scaled until image_size / crop just fits into it.
    scale = min(height / rows, width / columns) * preprocessing.crop
    rows, columns = max(1, round(rows * scale)), max(1, round(columns * scale))
    top, left = (height - rows) // 2, (width - columns) // 2
    return picture[top : top + rows, left : left + columns]


def _spread(heat, height, width):
    """Heat from 0 to 1 at the picture's size; an even heat is 0 everywhere."""
    heat = np.asarray(heat, "float64")
    if heat.ndim != 2:
        raise ValueError(f"`heat` must be [rows, columns]. Received: shape {heat.shape}.")
    low, high = heat.min(), heat.max()
    if high <= low:
        return np.zeros((height, width))
    heat = Image.fromarray(((heat - low) / (high - low)).astype("float32"))
    smooth = heat.resize((width, height), Image.Resampling.BICUBIC)
    return np.clip(np.asarray(smooth, "float64"), 0, 1)  # bicubic overshoots
