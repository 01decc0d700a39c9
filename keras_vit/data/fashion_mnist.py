"""Fashion-MNIST's original files as an image folder."""

import gzip
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

from keras_vit.files import replacing

# The data set's own order and names, with "/" and " " as "_". An image folder's classes are in
# the order of their names, so their numbers are not those of the original labels.
CLASSES = (
    "T-shirt_top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle_boot",
)
# Split: (start of the file names, number of images).
PARTS = {"train": ("train", 60_000), "test": ("t10k", 10_000)}
IMAGES, LABELS = 2051, 2049  # IDX magic numbers: unsigned bytes in 3 dimensions, in 1


def write_fashion_mnist(source, folder, parts=None):
    """Writes the 70,000 images, 28×28 pixels, grey, as PNG files: `SPLIT/CLASS/NUMBER.png`.

    The folder appears whole or not at all; one that is there already is left as it is.

    Args:
        source: folder of the four `*-ubyte.gz` files. Debian's package `dataset-fashion-mnist`
            puts them in `/usr/share/datasets/fashion-mnist`.
        folder: where to.
        parts: dict from split to (start of the file names, number of images); None for the
            data set's own, `PARTS`.

    Returns:
        The folder as a `Path`.

    Raises:
        FileNotFoundError: if one of the files is missing; says where to get them.
        ValueError: if one is not what it should be.

    Reference:
        [Xiao et al., 2017](https://arxiv.org/abs/1708.07747). The data is under the MIT licence.
    """
    source, folder = Path(source), Path(folder)
    if folder.exists():
        return folder
    parts = parts or PARTS
    read = {split: read_part(source, *part) for split, part in parts.items()}
    with replacing(folder) as temporary:
        for split, (images, labels) in read.items():
            for name in CLASSES:
                (temporary / split / name).mkdir(parents=True)
            for number, (image, label) in enumerate(zip(images, labels, strict=True)):
                path = temporary / split / CLASSES[label] / f"{number:05}.png"
                Image.fromarray(image).save(path)
    return folder


def read_part(source, start, count):
    """Returns the grey images `[count, 28, 28]` and the class numbers of one of `PARTS`."""
    images = _read(source / f"{start}-images-idx3-ubyte.gz", IMAGES, (count, 28, 28))
    path = source / f"{start}-labels-idx1-ubyte.gz"
    labels = _read(path, LABELS, (count,))
    if labels.max() >= len(CLASSES):
        raise ValueError(f"{path} must hold labels 0 to 9. Received: {labels.max()}.")
    return images, labels


def _read(path, magic, shape):
    """The array of an IDX file: a magic number and the sizes, 4 bytes each, then the bytes."""
    if not path.exists():
        raise FileNotFoundError(
            f"There is no {path}. Debian's package dataset-fashion-mnist has it, as has "
            "https://github.com/zalandoresearch/fashion-mnist."
        )
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is damaged: {error}.") from error
    header = np.frombuffer(content[: 4 * (1 + len(shape))], ">u4").tolist()
    body = len(content) - 4 * (1 + len(shape))
    if header != [magic, *shape] or body != np.prod(shape):
        raise ValueError(
            f"{path} must have the magic number {magic} and the sizes {shape}. "
            f"Received: {header[:1]}, {tuple(header[1:])}, {body} bytes."
        )
    return np.frombuffer(content, "uint8", offset=4 * (1 + len(shape))).reshape(shape)
