"""Images that are in memory already."""

import dataclasses
import io

import numpy as np
import tensorflow as tf
from PIL import Image

from keras_vit.data.naming import distinct
from keras_vit.data.records import Records
from keras_vit.data.targets import Classes, Tags, Unlabelled, gathered


@dataclasses.dataclass(frozen=True, eq=False)
class ArraySource:
    """Pictures of one array as files: one form of record for everything that follows.

    A PNG without compression costs little more than its copying.

    Args:
        images: uint8 `[n, h, w, c]`.
    """

    images: np.ndarray

    def encoded(self, position):
        """Writes one image as a PNG in a graph."""
        return tf.io.encode_png(gathered(self.images, position), compression=0)

    def read(self, position):
        """Writes one image as a PNG."""
        image, file = self.images[position], io.BytesIO()
        Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image).save(file, "PNG")
        return file.getvalue()

    def name(self, position):
        """Returns `array#POSITION`."""
        return f"array#{position}"


def from_arrays(images, labels=None, class_names=None):
    """Makes records of images in memory.

    Args:
        images: `[n, h, w]` or `[n, h, w, c]`, raw pixels 0 to 255; c is 1 (grey), 3 (colours)
            or 4 (colours and opacity).
        labels: `[n]`, class numbers; `[n, num_classes]` of 0 and 1, several classes an image; or
            None.
        class_names: names of the classes; their numbers by default.

    Returns:
        `Records`.

    Raises:
        ValueError: for images of several shapes, pixels that are not raw, or labels that do not
            fit.

    Example:

    >>> records = from_arrays(np.zeros((3, 8, 8), "uint8"), [0, 1, 0], ["cat", "dog"])
    >>> len(records), records.class_names
    (3, ('cat', 'dog'))
    """
    images = _pixels(images)
    targets = Unlabelled(len(images)) if labels is None else _targets(labels, class_names)
    return Records(ArraySource(images), targets, np.arange(len(images)))


def _pixels(images):
    shapes = {np.shape(image) for image in images}
    if len(shapes) > 1:
        raise ValueError(
            "`images` must have one shape and one number of channels; write them as files and "
            f"open the folder if they differ. Received: {', '.join(map(str, sorted(shapes)[:3]))}."
        )
    images = np.asarray(images)
    images = images[..., None] if images.ndim == 3 else images
    if images.ndim != 4 or images.shape[-1] not in (1, 3, 4):
        raise ValueError(
            "`images` must be [n, h, w] or [n, h, w, c] with 1, 3 or 4 channels. "
            f"Received: shape={images.shape}."
        )
    rounded = np.round(images).astype("uint8") if images.dtype != "uint8" else images
    low, high = images.min(initial=0), images.max(initial=0)
    if not 0 <= low <= high <= 255 or (images.dtype.kind == "f" and images.size and high <= 1):
        raise ValueError(
            "`images` must hold raw pixels from 0 to 255, not normalised ones. "
            f"Received: values from {low} to {high}."
        )
    return rounded


def _targets(labels, class_names):
    labels = np.asarray(labels)
    count = labels.shape[1] if labels.ndim == 2 else int(labels.max(initial=-1)) + 1
    if class_names is None:
        class_names = range(count)
    class_names = distinct([str(name) for name in class_names], "`class_names`")
    return (Tags if labels.ndim == 2 else Classes)(class_names, labels)
