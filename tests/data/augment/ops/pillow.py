"""What every change is held against: Pillow, on pictures of noise and of waves."""

import numpy as np
from PIL import Image

from tests.data.pictures import noise, smooth

# Height and width differ and are prime.
PICTURES = {
    "noise": noise(31, 43, 3),
    "waves": smooth(31, 43),
    "dark": noise(31, 43, 3) // 7 + 3,
    "flat": np.full((31, 43, 3), 77, "uint8"),
    "grey": noise(31, 43, 1, seed=5),
}


def image_of(array):
    """A Pillow image of an array with 1 or 3 channels."""
    return Image.fromarray(array[..., 0] if array.shape[-1] == 1 else array)


def array_of(image):
    array = np.asarray(image)
    return array if array.ndim == 3 else array[..., None]


def apart(ours, theirs):
    """The largest difference of two uint8 images, in levels."""
    return int(np.abs(np.int32(ours) - np.int32(theirs)).max())
