"""Class names and preprocessing inside an exported file.

A `.tflite` is a flatbuffer, read from its front; a zip archive is read from its end. So one file
can be both, which is how TFLite's own metadata travels: any zip program opens the file and shows
`labels.txt`, and every TFLite runtime passes over it.
"""

import hashlib
import json
import zipfile
from pathlib import Path

from keras_vit.layers import Preprocessing

LABELS = "labels.txt"
PREPROCESSING = "preprocessing.json"
CHECKSUM = "sha256.txt"
PARITY = "parity.json"
# A fixed date: the same model gives the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)


def texts(preprocessing):
    """Returns the files that describe a model, as a dict of name to text.

    Args:
        preprocessing: the model's `Preprocessing`.

    Returns:
        `labels.txt`, one class name a line in the order of the logits, for other programs; and
        `preprocessing.json`, which is what keras_vit reads.
    """
    labels = "".join(f"{name}\n" for name in preprocessing.class_names)
    return {LABELS: labels, PREPROCESSING: preprocessing.to_json() + "\n"}


def embed(path, preprocessing):
    """Appends the description of a model to its `.tflite` file.

    Args:
        path: the file; it holds the flatbuffer alone.
        preprocessing: the model's `Preprocessing`.
    """
    checksum = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    with zipfile.ZipFile(path, "a") as archive:
        for name, text in {**texts(preprocessing), CHECKSUM: checksum + "\n"}.items():
            archive.writestr(zipfile.ZipInfo(name, DATE), text)


def embed_parity(path, relative, cosine, top1, images):
    """Adds to a `.tflite` file how near it is to its Keras model.

    Args:
        path: the file, with its description inside.
        relative, cosine, top1, images: as in `keras_vit.export.agreement.Agreement`.
    """
    # Four digits: the last ones depend on the order in which threads add.
    found = {"relative": relative, "cosine": cosine, "top1": top1}
    record = {**{key: float(f"{value:.4g}") for key, value in found.items()}, "images": images}
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo(PARITY, DATE), json.dumps(record) + "\n")


def embedded(path):
    """Returns the `Preprocessing` inside a `.tflite` file, after checking that the file is whole.

    The check comes before any runtime opens the file: a damaged flatbuffer can end the process.

    Raises:
        ValueError: if the file is cut short or damaged, or holds no description.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            model = _flatbuffer(path, archive)
            description = archive.read(PREPROCESSING).decode("utf-8")
            checksum = archive.read(CHECKSUM).decode("utf-8").strip()
    except (zipfile.BadZipFile, KeyError, EOFError, OSError) as error:
        raise ValueError(
            f"{path} holds no readable `{PREPROCESSING}`: it is cut short, damaged, or was not "
            f"written by keras_vit. Export the model again. ({error})"
        ) from error
    if hashlib.sha256(model).hexdigest() != checksum:
        raise ValueError(f"{path} is damaged: its checksum is wrong. Export the model again.")
    return parsed(description, path)


def parsed(text, path):
    """Returns the `Preprocessing` that `text`, read from `path`, describes.

    Raises:
        ValueError: if it describes none.
    """
    try:
        return Preprocessing.from_json(text)
    except (json.JSONDecodeError, TypeError, ValueError) as error:
        raise ValueError(f"The `{PREPROCESSING}` of {path} cannot be used: {error}") from error


def _flatbuffer(path, archive):
    """The bytes in front of the archive."""
    start = min((item.header_offset for item in archive.infolist()), default=0)
    with open(path, "rb") as file:
        return file.read(start)
