"""Shards: files of many `tf.train.Example`, read at random by an index made when opened."""

import dataclasses
import glob
import mmap
import re
import struct
from pathlib import Path

import numpy as np

from keras_vit.data.naming import classes, distinct, listed_names, tags
from keras_vit.data.records import ReadThroughPython, Records
from keras_vit.data.targets import Captions, Unlabelled
from keras_vit.data.wire import example
from keras_vit.layers.extras import require

# The names of a feature, the first that is there: ImageNet's usual shards, then TFDS's.
IMAGE = ("image/encoded", "image")
LABEL = ("image/class/label", "label", "labels")
NAME = ("image/class/text", "image/class/synset")
CAPTION = ("image/caption", "caption", "text")
FEATURES = {"image": IMAGE, "label": LABEL, "name": NAME, "caption": CAPTION}

SPLIT = re.compile(r"(?:^|[-_.])(train|val|validation|test)(?=[-_.]|$)")
_NUMBERED = re.compile(r"-\d{5}-of-\d{5}$")
_GZIP = b"\x1f\x8b"


@dataclasses.dataclass(frozen=True, eq=False)
class ShardSource(ReadThroughPython):
    """Images inside files, by position.

    Args:
        paths: the files.
        places: int64 `[n, 4]`: which file, which record in it, and where the image's bytes start
            and stop in the file.
    """

    paths: tuple
    places: np.ndarray

    def read(self, position):
        """Reads one image."""
        file, _, start, stop = self.places[int(position)]
        # Opened each time: a thousand shards are more than a process may hold open.
        with open(self.paths[file], "rb", buffering=0) as shard:
            shard.seek(start)
            return shard.read(stop - start)

    def name(self, position):
        """Returns `PATH#RECORD`."""
        file, record = self.places[position][:2]
        return f"{self.paths[file]}#{record}"


@dataclasses.dataclass(frozen=True, eq=False)
class ArrayRecordSource(ReadThroughPython):
    """Images inside ArrayRecord files, by position.

    Args:
        data: an `ArrayRecordDataSource`: a sequence of serialised examples.
        label: what to call it in messages.
    """

    data: object
    label: str

    def read(self, position):
        """Reads one image."""
        record = self.data[int(position)]
        ((start, stop),) = _first(example(record), IMAGE)
        return record[start:stop]

    def name(self, position):
        """Returns `SHARDS#RECORD`."""
        return f"{self.label}#{position}"


def is_shards(spec):
    """Tells whether a path, a folder or a pattern means shards."""
    return bool(_paths(spec)) or any(kind in str(spec) for kind in _OPENERS)


def open_shards(spec):
    """Opens TFRecord or ArrayRecord shards of `tf.train.Example`.

    The image is the feature `image/encoded` or `image`. The class is `image/class/label` or
    `label`, an integer; several integers are several classes, none at all no labels; a text in
    `image/caption`, `caption` or `text` is a caption. Classes are named by `image/class/text`, by
    a `labels.txt` beside the shards (one name a line, the first for 0), or by their number. Where
    the files have splits, the class names are those of all of them.

    Every record is looked at once, when opened; only a few bytes of each are read.

    Args:
        spec: a file, a folder of shards, or a pattern such as `data/train-*.tfrecord`.

    Returns:
        `(splits, opened)`: the splits that the files' names tell, such as
        `train-00000-of-00002`, or `()`; and a function from one of them, or None, to `Records`.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if ArrayRecord's package is not installed.
        ValueError: for a damaged, compressed or foreign file.
    """
    paths = _existing(spec)
    kind = next((kind for kind in _OPENERS if kind in paths[0].name), ".tfrecord")
    source, rows, files = _OPENERS[kind](paths)
    targets = _targets(rows, spec, paths[0].parent)
    records = Records(source, targets, np.arange(len(rows)))
    named = [_split_of(path) for path in paths]

    def opened(split=None):
        if split is None:
            return records
        wanted = [number for number, name in enumerate(named) if name == split]
        return records.select(np.flatnonzero(np.isin(files, wanted)))

    return tuple(dict.fromkeys(named)) if all(named) else (), opened


def _paths(spec):
    """The shards that a path, a folder or a pattern means, in order."""
    path = Path(spec)
    found = (
        path.iterdir()
        if path.is_dir()
        else map(Path, [spec] if path.exists() else glob.glob(str(spec)))
    )
    return sorted(file for file in found if file.is_file() and _is_shard(file.name))


def _is_shard(name):
    return any(kind in name for kind in _OPENERS) or bool(_NUMBERED.search(name))


def _existing(spec):
    paths = _paths(spec)
    if not paths:
        raise FileNotFoundError(f"There are no TFRecord or ArrayRecord shards at {spec}.")
    return paths


def _split_of(path):
    match = SPLIT.search(path.name)
    return match[1] if match else None


def _tfrecords(paths):
    """(source, the features that count of each record, the file of each)."""
    rows, places = [], []
    for file, path in enumerate(paths):
        if not path.stat().st_size:
            continue
        with (
            open(path, "rb") as shard,
            mmap.mmap(shard.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            for number, (start, stop) in enumerate(_records(path, data)):
                row, (begin, end) = _row(data, start, stop, f"{path}#{number}")
                rows.append(row)
                places.append((file, number, begin, end))
    places = np.array(places, "int64").reshape(-1, 4)
    return ShardSource(tuple(map(str, paths)), places), rows, places[:, 0]


def _array_records(paths):
    module = require("array_record.python.array_record_data_source", extra="data")
    rows, files = [], []
    for file, path in enumerate(paths):
        data = module.ArrayRecordDataSource([str(path)])
        for number in range(len(data)):
            record = data[number]
            rows.append(_row(record, 0, len(record), f"{path}#{number}")[0])
            files.append(file)
    whole = module.ArrayRecordDataSource([str(path) for path in paths])
    return ArrayRecordSource(whole, str(paths[0].parent)), rows, np.array(files, "int64")


# What the kind of a file is told from, in its name.
_OPENERS = {
    ".tfrecord": _tfrecords,
    ".array_record": _array_records,
    ".arrayrecord": _array_records,
}


def _records(path, data):
    """Yields where each record of a TFRecord file starts and stops.

    A record is its length (8 bytes), a checksum of that (4), its bytes, their checksum (4).
    """
    if data[:2] == _GZIP:
        raise ValueError(f"{path} is compressed, which forbids random access: unpack it first.")
    position = 0
    while position < len(data):
        head = data[position : position + 8]
        start = position + 12
        stop = start + struct.unpack("<Q", head)[0] if len(head) == 8 else len(data)
        if stop + 4 > len(data):
            raise ValueError(f"{path} is cut short, or no TFRecord file: copy it again.")
        yield start, stop
        position = stop + 4


def _row(data, start, stop, name):
    """The features of one record that count, and where its image lies."""
    try:
        features = example(data, start, stop)
    except ValueError as error:
        raise ValueError(f"{name} holds no tf.train.Example: it cannot be read.") from error
    image = _first(features, IMAGE)
    if not image or not isinstance(image[0], tuple):
        raise ValueError(
            f"{name} has no feature {' or '.join(IMAGE)}. It has: {', '.join(sorted(features))}."
        )
    row = {"label": _first(features, LABEL)}
    for kind in ("name", "caption"):
        texts = _first(features, FEATURES[kind])
        row[kind] = bytes(data[slice(*texts[0])]).decode("utf-8") if texts else None
    return row, image[0]


def _targets(rows, where, folder):
    known = listed_names(folder)
    labels = [row["label"] for row in rows]
    if not all(label is None for label in labels):
        if any(label is None for label in labels):
            raise ValueError(f"{where} has records with a label and records without one.")
        if any(len(label) != 1 for label in labels):
            return tags(labels, where, known)
        numbers = [label[0] for label in labels]
        named = dict(zip(numbers, (row["name"] for row in rows), strict=True))
        if known is None and all(named.values()):
            order = sorted(named)
            known = distinct([named[number] for number in order], where)
            numbers = np.searchsorted(order, numbers)
        return classes(numbers, where, known)
    texts = [row["caption"] for row in rows]
    return Captions(texts) if texts and all(texts) else Unlabelled(len(rows))


def _first(features, names):
    return next((features[name] for name in names if name in features), None)
