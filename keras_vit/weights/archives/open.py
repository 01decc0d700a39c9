"""From a path to its arrays."""

import dataclasses
from pathlib import Path

from keras_vit.weights.archives.npz import open_npz
from keras_vit.weights.archives.pth import open_pth
from keras_vit.weights.archives.safetensors_file import (
    INDEX,
    SINGLE,
    config_beside,
    open_safetensors,
    open_shards,
)

# What a folder may hold, the first that is there; the last two are OpenCLIP's.
FILES = (SINGLE, INDEX, "open_clip_model.safetensors", "open_clip_pytorch_model.bin")


def open_bin(path):
    """Opens a PyTorch state dict as hubs name it, with the configuration beside it."""
    return dataclasses.replace(open_pth(path), metadata=config_beside(path))


OPENERS = {
    ".npz": open_npz,
    ".safetensors": open_safetensors,
    ".pth": open_pth,
    ".pt": open_pth,
    ".pyth": open_pth,
    ".bin": open_bin,
    ".json": open_shards,
}


def open_archive(path):
    """Opens a file of weights, or a folder as a hub's download leaves it.

    Args:
        path: an `.npz`, `.safetensors` or `.pth` file, an index of shards, or a folder that
            holds one of `FILES`.

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
        for name in FILES:
            if (path / name).is_file():
                return path / name
        raise FileNotFoundError(f"The folder {path} holds none of {', '.join(FILES)}.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    return path
