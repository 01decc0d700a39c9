"""The images that quantisation takes its ranges from."""

from pathlib import Path

import numpy as np
import tensorflow as tf

from keras_vit.data import find_data, find_videos
from keras_vit.data.clips import evaluation_clips
from keras_vit.data.pipeline import evaluation_batches
from keras_vit.data.records import Records

# PTQ4ViT: 32 images do for the accuracy. Agreement with the float model asks for more: on the
# digits (359 images, five seeds) 128 images gave 98.9 to 100 %, 512 gave 99.4 to 100 %.
LIMIT = 512


def calibration_images(calibration, preprocessing, limit=LIMIT, seed=0):
    """Returns calibration images as one array.

    Args:
        calibration: raw pixels 0 to 255 at the model's size: an array `[n, h, w, c]`, a
            `tf.data.Dataset` of images, of batches, or of tuples that begin with either
            (shuffled: its first `limit` images are taken); or `Records`, or the folder or data
            set that `open_data` opens, whose training images are taken. Of records each class
            gives as many as the others; from arrays, images are taken at even distances, so that
            no class is left out when they are sorted by class.
        preprocessing: the model's `Preprocessing`.
        limit: the largest number of images.
        seed: of the choice among the records.

    Returns:
        A float32 array `[n, h, w, c]`.

    Raises:
        ValueError: for another kind, another size, no image, or pixels that are not raw.
    """
    images = _images(calibration, preprocessing, limit, seed)
    shape = preprocessing.shape
    if not len(images) or images.shape[1:] != shape:
        raise ValueError(
            f"`calibration` must hold images of the shape {shape}, at least one. "
            f"Received: shape={images.shape}."
        )
    low, high = images.min(), images.max()
    if not (low >= 0 and 1 < high <= 255):
        raise ValueError(
            "`calibration` must hold raw pixels from 0 to 255, not normalised ones. "
            f"Received: values from {low:.3g} to {high:.3g}."
        )
    return images


def spread(count, limit):
    """Returns at most `limit` indices below `count`, at even distances.

    Example:

    >>> spread(10, 4).tolist()
    [0, 2, 5, 7]
    """
    taken = min(count, limit)
    return np.arange(taken) * count // max(taken, 1)


def random_images(preprocessing, count=16):
    """Returns images of noise, `[count, h, w, c]`: what is compared where no images were given."""
    shape = (count, *preprocessing.shape)
    return np.random.default_rng(0).integers(0, 256, shape).astype("float32")


def with_full_range(images):
    """Returns a copy of the images with one black and one white pixel in the first.

    Quantisation takes the input's scale from the lowest and the highest value that it sees. With
    0 and 255 among them the scale is exactly 1 and the zero point 0: a camera's bytes are the
    input. A whole black and a whole white image would do that too (and on the digits agree as
    well, within one image of 359), but widen every other tensor's range for two images that no
    camera takes.
    """
    images = images.copy()
    first = images[0].reshape(-1, images.shape[-1])
    first[0], first[-1] = 0, 255
    return images


def balanced(labels, limit, seed=0):
    """Returns at most `limit` indices, equally many of each class as far as there are as many.

    Args:
        labels: int `[n]`.
        limit: the largest number of indices.
        seed: of the choice within the classes.

    Returns:
        Indices in rising order.

    Example:

    >>> labels = np.array([0, 0, 0, 0, 0, 1, 2, 2])
    >>> labels[balanced(labels, 5)].tolist()
    [0, 0, 1, 2, 2]
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    turn = np.zeros(len(labels), int)  # first of its class, second, ...
    for label in np.unique(labels):
        own = labels[order] == label
        turn[own] = np.arange(own.sum())
    return np.sort(order[np.argsort(turn, kind="stable")][:limit])


def _images(calibration, preprocessing, limit, seed):
    if isinstance(calibration, str | Path):
        find = find_videos if preprocessing.frames else find_data
        calibration = find(str(calibration)).open_for_training()
    if isinstance(calibration, tf.data.Dataset):
        return _from_dataset(calibration, limit, preprocessing)
    if isinstance(calibration, Records):
        records = calibration.select(_chosen(calibration, limit, seed))
        if preprocessing.frames:
            clips = evaluation_clips(records, preprocessing, 1).map(lambda clip, *_: clip[0])
            return _from_dataset(clips, limit, preprocessing)
        batches = evaluation_batches(records, preprocessing, limit)
        return _from_dataset(batches, limit, preprocessing)
    if hasattr(calibration, "shape") and len(calibration.shape) == 1 + len(preprocessing.shape):
        images = np.asarray(calibration)
        return images[spread(len(images), limit)].astype("float32")
    raise ValueError(
        "`calibration` must be an array [n, h, w, c], a tf.data.Dataset, Records or a folder. "
        f"Received: {type(calibration).__name__}."
    )


def _chosen(records, limit, seed):
    labels = getattr(records.targets, "labels", None)
    if labels is None or np.ndim(labels) != 1:
        return spread(len(records), limit)
    return balanced(np.asarray(labels), limit, seed)


def _from_dataset(dataset, limit, preprocessing):
    spec = tf.nest.flatten(dataset.element_spec)[0]
    first = dataset.map(lambda *parts: tf.cast(tf.nest.flatten(parts)[0], tf.float32))
    if spec.shape.rank == 1 + len(preprocessing.shape):
        first = first.unbatch()
    images = list(first.take(limit).as_numpy_iterator())
    return np.stack(images) if images else np.zeros((0,))
