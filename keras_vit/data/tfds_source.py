"""Data sets of TensorFlow Datasets (TFDS), read at random and still encoded."""

import dataclasses
import difflib
import os
import re
from pathlib import Path

import numpy as np

from keras_vit.data.records import ReadThroughPython, Records
from keras_vit.data.targets import Captions, Classes, Tags, Unlabelled
from keras_vit.layers.extras import require

PREFIX = "tfds:"
FORMAT = re.compile(r"tfds:(?P<name>[^@]+)(@(?P<split>.+))?")
# What a prepared data set has in its folder.
PREPARED = "dataset_info.json"
# Text features that are captions; others are file names and the like.
CAPTIONS = ("caption", "text")


@dataclasses.dataclass(frozen=True, eq=False)
class TfdsSource(ReadThroughPython):
    """Images of one TFDS split by position.

    Args:
        data: the split's `tfds.data_source`, whose images are left encoded.
        key: name of the image feature.
        label: what to call the split in messages.
    """

    data: object
    key: str
    label: str

    def read(self, position):
        """Reads one image."""
        return self.data[int(position)][self.key]

    def name(self, position):
        """Returns `SPLIT#POSITION`."""
        return f"{self.label}#{position}"


def is_prepared(folder):
    """Tells whether a folder holds a prepared data set that can be read at random."""
    folder = Path(folder)
    return (folder / PREPARED).is_file() and any(folder.glob("*array_record*"))


class TfdsData:
    """A TFDS data set that is on the disk; it is prepared first if need be.

    Args:
        spec: `"tfds:NAME[/CONFIG][@SPLIT]"`; SPLIT may be a slice such as `train[:10%]`. NAME may
            be the folder of a data set that is prepared, such as `DIR/cifar10/3.0.2`, whose code
            is then not needed; that folder alone, without `tfds:`, will do.
        data_dir: the folder of all data sets; by default that of the environment variable
            `TFDS_DATA_DIR`, or else TFDS's own.

    Attributes:
        splits: names of its splits, or `()` where `spec` names one itself.

    Raises:
        FileNotFoundError: if the data set is not there and cannot be had; says what to put where.
        ImportError: if tensorflow-datasets is not installed.
        ValueError: if there is no such data set.
    """

    def __init__(self, spec, data_dir=None):
        self.name, self.split = _parse(spec)
        self.builder = _prepared(self.name, data_dir)
        self.splits = () if self.split else tuple(self.builder.info.splits)

    def open(self, split=None):
        """Opens a split.

        Args:
            split: its name or a slice of it, used where the data's own name has none.

        Returns:
            `Records`: with `Classes`, `Tags`, `Captions` or `Unlabelled` as the features are. The
            labels are read now, once through the split.

        Raises:
            ValueError: if there is no such split, it has no images, or it was prepared in a format
                without random access.
        """
        tfds = require("tensorflow_datasets", extra="data")
        split = self.split or split
        info = self.builder.info
        image = _image_key(tfds, self.name, info)
        data = _data_source(tfds, self.name, self.builder, split, image)
        source = TfdsSource(data, image, f"{PREFIX}{self.name}@{split}")
        return Records(source, _targets(tfds, info, data), np.arange(len(data)))


def _parse(spec):
    if is_prepared(spec):
        return str(spec), None
    match = FORMAT.fullmatch(str(spec))
    if not match:
        raise ValueError(f"A TFDS data set is tfds:NAME[/CONFIG][@SPLIT]. Received: {spec!r}.")
    return match["name"], match["split"]


def _prepared(name, data_dir):
    """The builder of a data set that is on the disk, which it is brought to if need be."""
    if is_prepared(name):
        return require("tensorflow_datasets", extra="data").builder_from_directory(name)
    builder = _builder(name, data_dir)
    if builder.is_prepared():
        return builder
    builder = _builder(name, data_dir, file_format="array_record")
    try:
        builder.download_and_prepare()
    except Exception as error:  # offline, blocked, moved, a missing package: TFDS raises any kind
        reason = (str(error).splitlines() or [""])[0][:200]
        raise FileNotFoundError(
            f"The TFDS data set {name!r} is not in {builder.data_dir} and could not be prepared "
            f"({type(error).__name__}: {reason}). Where it can be downloaded, run "
            f"`tfds build {name} --file_format=array_record --data_dir=DIR`, and copy what is "
            f"under DIR here, so that {builder.data_dir}/dataset_info.json exists. `--data-dir`, "
            f"or TFDS_DATA_DIR, sets another folder."
        ) from error
    return builder


def _builder(name, data_dir, **arguments):
    tfds = require("tensorflow_datasets", extra="data")
    # TFDS reads the variable once, when it is imported; a test or a notebook sets it later.
    folder = data_dir or os.environ.get("TFDS_DATA_DIR")
    try:
        return tfds.builder(name, data_dir=folder, **arguments)
    except tfds.core.DatasetNotFoundError as error:
        close = difflib.get_close_matches(name, tfds.list_builders(), cutoff=0.5)
        hint = f" Close names: {', '.join(close)}." if close else ""
        raise ValueError(f"There is no TFDS data set {name!r}.{hint}") from error


def _image_key(tfds, name, info):
    """The name of the image feature."""
    found = [key for key, kind in info.features.items() if isinstance(kind, tfds.features.Image)]
    if not found:
        raise ValueError(
            f"The TFDS data set {name!r} has no images. Its features: {', '.join(info.features)}."
        )
    return "image" if "image" in found else found[0]


def _targets(tfds, info, data):
    """What the features tell of the images: those that the data set names itself come first."""
    keys = [*(info.supervised_keys or ()), *info.features]
    for key in dict.fromkeys(key for key in keys if key in info.features):
        targets = _kind(tfds, key, info.features[key])
        if targets:
            return targets([data[position][key] for position in range(len(data))])
    return Unlabelled(len(data))


def _kind(tfds, key, feature):
    """A function from a column to targets, or None if the feature is something else."""
    inner = feature.feature if isinstance(feature, tfds.features.Sequence) else None
    if isinstance(feature, tfds.features.ClassLabel):
        return lambda column: Classes(feature.names, column)
    if isinstance(inner, tfds.features.ClassLabel):
        return lambda column: Tags.of(inner.names, column)
    if isinstance(feature, tfds.features.Text) and key in CAPTIONS:
        return lambda column: Captions([text.decode("utf-8") for text in column])
    return None


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
            f"`tfds build {name} --file_format=array_record --data_dir=DIR`, and give that as "
            f"`--data-dir`, or as TFDS_DATA_DIR."
        ) from error
    except (ValueError, KeyError) as error:
        if split.partition("[")[0] in builder.info.splits:
            reason = f"no image in {split!r}, or that is no slice such as train[:10%]"
        else:
            reason = f"no split {split!r}"
        raise ValueError(
            f"The TFDS data set {name!r} has {reason}. It has: {', '.join(builder.info.splits)}."
        ) from error
