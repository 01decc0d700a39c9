"""The official checkpoints by name: where each lies, what it is, and who says so.

The rows are in `catalog.json`. A row's location, licence and accuracy are copied from the source
that it cites; what no source states is null. A checksum is there only where a source states one:
DeiT's file names carry the first digits of theirs.
"""

import dataclasses
import difflib
import functools
import json
from pathlib import Path

TABLE = Path(__file__).with_name("catalog.json")


@dataclasses.dataclass(frozen=True)
class CatalogEntry:
    """One published checkpoint.

    Args:
        name: what `create_model(weights=...)` takes.
        model: name of the model that it is for.
        source: format, a key of `keras_vit.weights.SOURCES`.
        url: where it lies.
        image_size: side of the images in pixels.
        num_classes: classes of its head, 0 without a head.
        preprocessing: fields of `Preprocessing` at inference.
        sha256: the checksum's first digits, as far as the source states them, or None.
        licence: SPDX name.
        top1: published ImageNet top-1 accuracy in percent, or None.
        note: on the accuracy and the rest.
        citation: where all this was read.
    """

    name: str
    model: str
    source: str
    url: str
    image_size: int
    num_classes: int
    preprocessing: dict
    sha256: str | None
    licence: str
    top1: float | None
    note: str
    citation: str

    @property
    def file(self):
        """Name of the downloaded file: hubs call every file `model.safetensors`."""
        return f"{self.name}{Path(self.url).suffix}"


@functools.cache
def catalog():
    """Returns all rows: name -> `CatalogEntry`."""
    rows = json.loads(TABLE.read_text("utf-8"))
    return {name: CatalogEntry(name, **row) for name, row in rows.items()}


def list_weights(model=None):
    """Returns the names of the published checkpoints.

    Args:
        model: only those for this model, such as `"vit_b16"`.

    Example:

    >>> list_weights("vit_ti16")[0]
    'vit_ti16_augreg_i21k'
    """
    return [name for name, row in catalog().items() if model in (None, row.model)]


def catalog_entry(name):
    """Returns one row.

    Raises:
        ValueError: if there is none of that name; the error suggests the closest.
    """
    rows = catalog()
    if name not in rows:
        close = difflib.get_close_matches(str(name), rows, n=3)
        hint = f" Close to it: {', '.join(close)}." if close else ""
        raise ValueError(
            f"There are no published weights {name!r}, and no such file.{hint} "
            "`keras_vit.weights.list_weights()` lists the names."
        )
    return rows[name]
