"""From a path to its arrays."""

from pathlib import Path

from keras_vit.weights.archives.npz import open_npz
from keras_vit.weights.archives.pth import open_pth
from keras_vit.weights.archives.safetensors_file import (
    INDEX,
    SINGLE,
    open_safetensors,
    open_shards,
)

OPENERS = {
    ".npz": open_npz,
    ".safetensors": open_safetensors,
    ".pth": open_pth,
    ".pt": open_pth,
    ".pyth": open_pth,
    ".json": open_shards,
}


def open_archive(path):
    """Opens a file of weights, or a folder as a hub's download leaves it.

    Args:
        path: an `.npz`, `.safetensors` or `.pth` file, an index of shards, or a folder that
            holds `model.safetensors` or `model.safetensors.index.json`.

    Returns:
        An `Archive`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is none of these, or damaged.
    """
    path = _file(Path(path))
    if path.suffix not in OPENERS:
        raise ValueError(f"{path} is no file of weights. These are: {', '.join(OPENERS)}.")
    with open(path, "rb") as file:  # here, so that a lack of permission is called by its name
        if not file.read(1):
            raise ValueError(f"{path} is empty.")
    archive = OPENERS[path.suffix](path)
    if not archive.shapes:
        raise ValueError(f"{path} holds no arrays.")
    return archive


def _file(path):
    if path.is_dir():
        for name in (SINGLE, INDEX):
            if (path / name).is_file():
                return path / name
        raise FileNotFoundError(f"The folder {path} holds neither {SINGLE} nor {INDEX}.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    return path
