"""safetensors files, one or several shards, as Hugging Face and timm publish them.

The format has no checksums: a damaged header is seen, damaged numbers are not.
"""

import json
from pathlib import Path

import safetensors

from keras_vit.weights.archives.archive import Archive
from keras_vit.weights.archives.damage import refused
from keras_vit.weights.archives.precision import widened

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
CONFIG, PROCESSOR = "config.json", "preprocessor_config.json"
OPEN_CLIP = "open_clip_config.json"


def open_safetensors(path):
    """Opens a `.safetensors` file; its own metadata is in the archive's.

    Raises:
        ValueError: if the file is not whole.
    """
    shapes, metadata = _header(path)
    read = lambda name: _read(path, name)  # noqa: E731
    return Archive(str(path), shapes, read, {**metadata, **config_beside(path)})


def open_shards(index):
    """Opens the shards that an index file (`model.safetensors.index.json`) lists.

    Raises:
        ValueError: if the index is broken, leads out of its folder, or a shard is missing or
            lacks an array.
    """
    index = Path(index)
    places = _weight_map(index)
    shapes = {}
    for shard in sorted(set(places.values())):
        found = _header(_shard(index, shard))[0]
        listed = sorted(name for name, place in places.items() if place == shard)
        lost = [name for name in listed if name not in found]
        if lost:
            raise ValueError(f"{index} lists {lost[0]!r}, which is not in {shard}.")
        shapes |= {name: found[name] for name in listed}
    read = lambda name: _read(index.parent / places[name], name)  # noqa: E731
    return Archive(str(index), shapes, read, config_beside(index))


def config_beside(path):
    """What the JSON files in the same folder say.

    Returns:
        The content of `config.json`, or of OpenCLIP's `open_clip_config.json`, and under
        "preprocessor" that of `preprocessor_config.json`; `{}` if there is none.

    Raises:
        ValueError: if one of them is no JSON object.
    """
    config, processor, open_clip = (
        _json_object(Path(path).with_name(name)) for name in (CONFIG, PROCESSOR, OPEN_CLIP)
    )
    config = config or open_clip
    return {**config, "preprocessor": processor} if processor else config


def _json_object(path):
    if not path.is_file():
        return {}
    with refused(f"{path} is not JSON"):
        found = json.loads(path.read_text("utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds a {type(found).__name__} instead of an object.")
    return found


def _weight_map(index):
    places = _json_object(index).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(p, str) for p in places.values()):
        raise ValueError(f"{index} is no index of shards: it has no table `weight_map`.")
    return places


def _shard(index, name):
    if Path(name).name != name:
        raise ValueError(f"{index}: the shard {name!r} leads out of the folder.")
    if not (index.parent / name).is_file():
        raise ValueError(f"{index}: the shard {name!r} is missing. Put it beside the index.")
    return index.parent / name


def _header(path):
    refusal = refused(f"{path} is not a whole safetensors file")
    with refusal, safetensors.safe_open(path, "np") as file:
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}
        return shapes, file.metadata() or {}


def _read(path, name):
    refusal = refused(f"{path}: {name!r} cannot be read")
    with refusal, safetensors.safe_open(path, "np") as file:
        array = file.get_tensor(name)
    return widened(array, f"{path}: {name!r}")
