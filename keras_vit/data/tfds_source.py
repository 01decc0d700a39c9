"""Data sets of TensorFlow Datasets (TFDS), read at random and still encoded."""

import dataclasses
import difflib
import os
import re

import numpy as np
import tensorflow as tf

from keras_vit.data.records import Records
from keras_vit.layers.extras import require

PREFIX = "tfds:"
FORMAT = re.compile(r"tfds:(?P<name>[\w.:/-]+?)(@(?P<split>.+))?")


@dataclasses.dataclass(frozen=True, eq=False)
class TfdsSource:
    """Images of one TFDS split by position.

    Args:
        data: the split's `tfds.data_source`, whose images are left encoded.
        key: name of the image feature.
        label: what to call the split in messages.
    """

    data: object
    key: str
    label: str

    def encoded(self, position):
        """Reads one image in a graph, through Python: TFDS has no op for random access."""
        encoded = tf.numpy_function(self.read, [position], tf.string)
        return tf.ensure_shape(encoded, [])

    def read(self, position):
        """Reads one image."""
        return self.data[int(position)][self.key]

    def name(self, position):
        """Returns `SPLIT#POSITION`."""
        return f"{self.label}#{position}"


def tfds_splits(spec):
    """Returns the names of a data set's splits, or `()` where `spec` names one itself.

    Args:
        spec: `"tfds:NAME[/CONFIG][@SPLIT]"`.
    """
    name, split = _parse(spec)
    return () if split else tuple(_prepared(name).info.splits)


def open_tfds(spec, split=None):
    """Opens a TFDS data set, preparing it first if need be.

    Args:
        spec: `"tfds:NAME[/CONFIG][@SPLIT]"`; SPLIT may be a slice such as `train[:10%]`. The
            environment variable `TFDS_DATA_DIR` names the folder of all data sets.
        split: used where `spec` names none.

    Returns:
        `Records`. The labels are read now, once through the split.

    Raises:
        FileNotFoundError: if the data set is not there and cannot be had; says what to put where.
        ImportError: if tensorflow-datasets is not installed.
        ValueError: if there is no such data set or split, it is not an image classification
            set, or it was prepared in a format without random access.
    """
    tfds = require("tensorflow_datasets", extra="data")
    name, own = _parse(spec)
    split = own or split
    builder = _prepared(name)
    image, label = _keys(tfds, name, builder.info)
    data = _data_source(tfds, name, builder, split, image)
    labels = [data[position][label] for position in range(len(data))]
    return Records(
        TfdsSource(data, image, f"{PREFIX}{name}@{split}"),
        builder.info.features[label].names,
        labels,
        np.arange(len(labels)),
    )


def _parse(spec):
    match = FORMAT.fullmatch(spec)
    if not match:
        raise ValueError(f"A TFDS data set is tfds:NAME[/CONFIG][@SPLIT]. Received: {spec!r}.")
    return match["name"], match["split"]


def _prepared(name):
    """The builder of a data set that is on the disk, which it is brought to if need be."""
    builder = _builder(name)
    if builder.is_prepared():
        return builder
    builder = _builder(name, file_format="array_record")
    try:
        builder.download_and_prepare()
    except Exception as error:  # offline, blocked, moved, a missing package: TFDS raises any kind
        reason = (str(error).splitlines() or [""])[0][:200]
        raise FileNotFoundError(
            f"The TFDS data set {name!r} is not in {builder.data_dir} and could not be prepared "
            f"({type(error).__name__}: {reason}). Where it can be downloaded, run "
            f"`tfds build {name} --file_format=array_record --data_dir=DIR`, and copy what is "
            f"under DIR here, so that {builder.data_dir}/dataset_info.json exists. TFDS_DATA_DIR "
            f"sets another folder."
        ) from error
    return builder


def _builder(name, **arguments):
    tfds = require("tensorflow_datasets", extra="data")
    # TFDS reads the variable once, when it is imported; a test or a notebook sets it later.
    folder = os.environ.get("TFDS_DATA_DIR")
    try:
        return tfds.builder(name, data_dir=folder, **arguments)
    except tfds.core.DatasetNotFoundError as error:
        close = difflib.get_close_matches(name, tfds.list_builders(), cutoff=0.5)
        hint = f" Close names: {', '.join(close)}." if close else ""
        raise ValueError(f"There is no TFDS data set {name!r}.{hint}") from error


def _keys(tfds, name, info):
    """Names of the image feature and the label feature."""
    keys = info.supervised_keys or ()
    kinds = [type(info.features[key]) for key in keys] if len(keys) == 2 else []
    image, label = tfds.features.Image, tfds.features.ClassLabel
    if len(kinds) != 2 or not issubclass(kinds[0], image) or not issubclass(kinds[1], label):
        raise ValueError(
            f"The TFDS data set {name!r} is not one of images with one class each. "
            f"Its supervised keys: {info.supervised_keys}."
        )
    return keys


def _data_source(tfds, name, builder, split, image):
    if split is None:
        raise ValueError(
            f"Name a split, as in {PREFIX}{name}@{next(iter(builder.info.splits))}. "
            f"The data set has: {', '.join(builder.info.splits)}."
        )
    try:
        return builder.as_data_source(split, decoders={image: tfds.decode.SkipDecoding()})
    except NotImplementedError as error:
        raise ValueError(
            f"The TFDS data set {name!r} in {builder.data_dir} is in a format without random "
            f"access ({builder.info.file_format.value}). Prepare it again in another folder: "
            f"`tfds build {name} --file_format=array_record --data_dir=DIR`, and set "
            f"TFDS_DATA_DIR=DIR."
        ) from error
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"The TFDS data set {name!r} has no split {split!r}. "
            f"It has: {', '.join(builder.info.splits)}."
        ) from error
