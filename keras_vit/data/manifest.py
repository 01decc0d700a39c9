"""Manifests: a table of image paths, CSV or JSONL, with what is known about each image."""

import csv
import json
import re
from pathlib import Path

import numpy as np

from keras_vit.data.boxes import boxes_of
from keras_vit.data.folder import FolderSource
from keras_vit.data.naming import classes, listed_names, tags
from keras_vit.data.records import Records
from keras_vit.data.targets import Captions, Unlabelled

SEPARATOR = re.compile(r"\s*[|;]\s*")


def open_manifest(path):
    """Opens a manifest.

    A CSV file has a head line; a JSONL file has an object a line. The columns:

    - `path`: of the image, from the manifest's folder or absolute;
    - one of `label` (a class, by name or number), `labels` (classes: a list in JSONL, separated
      by `|` or `;` in CSV), `text` (a caption) and `boxes` (JSONL: [left, top, right, bottom] each,
      as shares of width and height, with as many `labels`), or none of them: no labels;
    - `split`, if the data has splits.

    Class names are those of all splits together, so that a class keeps its number; a
    `labels.txt` in the same folder, one name a line, sets others and their order.

    Args:
        path: the manifest.

    Returns:
        `(splits, opened)`: the names in the column `split`, in the order they come, or `()`; and
        a function from one of them, or None, to `Records`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it cannot be read; names the line and what it lacks.
    """
    path = Path(path)
    rows = _rows(path)
    source = FolderSource(path.parent, tuple(_texts(path, rows, "path")))
    records = Records(source, _targets(path, rows), np.arange(len(rows)))
    named = _texts(path, rows, "split") if "split" in rows[0] else ()

    def opened(split=None):
        if split is None:
            return records
        return records.select([i for i, name in enumerate(named) if name == split])

    return tuple(dict.fromkeys(named)), opened


def _targets(path, rows):
    known = listed_names(path.parent)
    kinds = {
        "boxes": lambda: boxes_of(
            [_list(row["boxes"]) for row in rows],
            [_list(row.get("labels")) for row in rows],
            path,
            known,
        ),
        "label": lambda: classes(_texts(path, rows, "label"), path, known),
        "labels": lambda: tags([_list(row.get("labels")) for row in rows], path, known),
        "text": lambda: Captions(_texts(path, rows, "text")),
    }
    for column, targets in kinds.items():
        if column in rows[0]:
            return targets()
    return Unlabelled(len(rows))


def _rows(path):
    """The lines as dicts."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no manifest {path}.")
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = _READERS[path.suffix](path, file)
    if not rows:
        raise ValueError(f"The manifest {path} lists no image.")
    if "path" not in rows[0]:
        raise ValueError(
            f"The manifest {path} needs a column `path`. It has: {', '.join(map(str, rows[0]))}."
        )
    return rows


def _csv(path, file):
    return list(csv.DictReader(file))


def _jsonl(path, file):
    rows = []
    for number, line in enumerate(file, 1):
        try:
            row = json.loads(line) if line.strip() else None
        except json.JSONDecodeError as error:
            raise ValueError(f"Line {number} of {path} is not JSON: {error}.") from error
        if row is not None and not isinstance(row, dict):
            raise ValueError(f"Line {number} of {path} must be a JSON object. Received: {row!r}.")
        rows += [] if row is None else [row]
    return rows


_READERS = {".csv": _csv, ".jsonl": _jsonl}


def _texts(path, rows, column):
    """A column as text; every image needs an entry."""
    for number, row in enumerate(rows, 1):
        if row.get(column) in (None, ""):
            raise ValueError(
                f"Image {number} of {path} has no `{column}`: every image needs one, or none."
            )
    return [str(row[column]) for row in rows]


def _list(value):
    """Several values, from a list or from separated text; an empty text is no value."""
    if isinstance(value, list):
        return value
    return [] if value in (None, "") else SEPARATOR.split(str(value).strip())
