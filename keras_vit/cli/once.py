"""What is measured once: a long run that was stopped goes on after the last figure."""

import json

import numpy as np
from rich.progress import track

from keras_vit.cli.console import err
from keras_vit.cli.evaluate import write_json
from keras_vit.files import replacing


def once(path, measure):
    """Returns what `measure()` gave when it was first asked for, kept as JSON at `path`."""
    if not path.exists():
        write_json(measure(), path)
    return json.loads(path.read_text())


def in_chunks(compute, items, folder, size, what):
    """Returns what `compute` gives for items, some at a time, each part kept in `folder`.

    Args:
        compute: function from some of the items to an array with a row for each.
        items: what can be sliced.
        folder: keeps one `.npy` file for each `size` items, and is read where it has it.
        size: items that are lost when a run is stopped.
        what: what the progress bar says.
    """
    found = []
    starts = range(0, len(items), size)
    for start in track(starts, description=what, console=err, disable=not err.is_terminal):
        chunk = items[start : start + size]
        path = folder / f"{start:05}-{start + len(chunk):05}.npy"
        if not path.exists():
            with replacing(path) as temporary:
                np.save(temporary, compute(chunk))
        found.append(np.load(path))
    return np.concatenate(found)
