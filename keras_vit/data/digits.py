"""scikit-learn's handwritten digits as an image folder: real data without a download."""

from pathlib import Path

import numpy as np
from PIL import Image

from keras_vit.files import replacing


def write_digits(folder, per_class=None):
    """Writes the 1,797 digits, 8×8 pixels, grey 0 to 255, as PNG files, one folder a class.

    The folder appears whole or not at all; one that is there already is left as it is.

    Args:
        folder: where to; its subfolders are called `0` to `9`.
        per_class: how many of each digit, the first ones, or None for all (about 180).

    Returns:
        The folder as a `Path`.

    Reference:
        [Optical Recognition of Handwritten Digits](https://doi.org/10.24432/C50P49), test part.
    """
    from sklearn.datasets import load_digits  # half a second that other data need not wait for

    folder = Path(folder)
    if folder.exists():
        return folder
    digits = load_digits()
    levels = (digits.images.astype("int64") * 255 + 8) // 16  # stored as 0 to 16
    with replacing(folder) as temporary:
        for label in range(10):
            (temporary / str(label)).mkdir(parents=True)
            for number in np.flatnonzero(digits.target == label)[:per_class]:
                image = Image.fromarray(levels[number].astype("uint8"))
                image.save(temporary / str(label) / f"{number:04}.png")
    return folder
