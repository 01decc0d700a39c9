"""`keras_vit.weights.save`: a model's weights for transformers, timm or JAX code."""

import dataclasses
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from keras import ops
from safetensors.numpy import save_file

from keras_vit.files import replacing
from keras_vit.layers.positions import sincos2d
from keras_vit.layers.sizes import patch_grid
from keras_vit.models import CLIP, MAE, DynamicViT, Swin, TimeSformer
from keras_vit.weights.loading import POSITION
from keras_vit.weights.metadata import NOTE
from keras_vit.weights.sources import table_of
from keras_vit.weights.targets import clip, dynamic_vit, hf, jax, mae, timm_families
from keras_vit.weights.targets.target import own_attention

# Families that not every code has.
FORMATS_OF = {
    **dict.fromkeys(timm_families.TARGETS, ("timm",)),
    Swin: ("hf", "timm"),
    TimeSformer: ("hf",),
    CLIP: ("hf", "open_clip"),
    MAE: ("hf", "mae"),
    DynamicViT: ("dynamicvit",),
}
# What another code may be wrong about without a weight being lost.
WITHOUT_WEIGHTS = ("activation", "norm_epsilon", "preprocessing")


@dataclasses.dataclass(frozen=True)
class Format:
    """A code that weights are written for.

    Args:
        target: model -> `Target`.
        write: (path, arrays, target, model) -> None.
    """

    target: Callable
    write: Callable


def save(model, path, format="hf", *, accept=()):
    """Writes a model's weights as transformers, timm or JAX code reads them.

    Args:
        model: a model of this package.
        path: for `"hf"`, `"timm"` and `"open_clip"` a folder (weights and configuration, what the
            hubs hold: load it with `from_pretrained(path)`, or `create_model("local-dir:" + path)`
            of timm or OpenCLIP), or a file that ends in `.safetensors`; for `"jax"` a file that
            ends in `.npz`.
        format: `"hf"`, `"timm"`, `"jax"` (the original ViT's names where the class token has a
            position, big_vision's elsewhere), or, for a CLIP, `"open_clip"`, for a DynamicViT
            `"dynamicvit"`, for a MAE `"mae"`, the authors' names.
        accept: conventions that the other code may be wrong about, such as `("activation",)`: it
            cannot be told, and its outputs will then differ from the model's.

    Raises:
        ValueError: if the other code has no way of computing what this model computes; the
            message lists what is in the way.
        OSError: if the file cannot be written. What was at `path` is then still there.
    """
    unknown = sorted(set(accept) - set(WITHOUT_WEIGHTS))
    if unknown:
        raise ValueError(
            f"`accept` may hold {', '.join(WITHOUT_WEIGHTS)}. Received: {unknown[0]!r}."
        )
    if format not in FORMATS:
        raise ValueError(f"`format` must be one of {', '.join(FORMATS)}. Received: {format!r}.")
    known = FORMATS_OF.get(type(model), ("hf", "timm", "jax"))
    if format not in known:
        raise ValueError(
            f"A {type(model).__name__} is written in the format {' or '.join(map(repr, known))} "
            f"only. Received: {format!r}."
        )
    target = FORMATS[format].target(model)
    in_the_way = {**own_attention(model.config), **target.in_the_way}
    in_the_way = {name: why for name, why in in_the_way.items() if name not in accept}
    if in_the_way:
        reasons = "".join(f"\n  {name}: {why}" for name, why in in_the_way.items())
        raise ValueError(f"This model cannot be written in the format {format!r}:{reasons}")
    FORMATS[format].write(Path(path), _arrays(model, target), target, model)


def _arrays(model, target):
    """The foreign names and arrays."""
    config, table = model.config, table_of(target.source, type(model))
    ours = {v.path: np.asarray(ops.convert_to_numpy(v)) for v in model.weights}
    if hasattr(config, "position"):
        ours[POSITION] = _position_table(config, ours, target)
        config = dataclasses.replace(config, position="learned" if target.positions else "none")
    arrays = {}
    for entry in table.entries(config):
        names, layout = entry.options[0]
        for name, array in zip(names, layout.to_theirs(ours[entry.ours]), strict=True):
            arrays[table.written(config, name)] = np.asarray(array, order="C")
    return arrays


def _position_table(config, ours, target):
    """The position table with as many rows before the patches as the target keeps there."""
    rows, columns = patch_grid(config.image_size, config.patch_size)
    if config.position == "learned":
        table = ours[POSITION]
    elif config.position == "sincos2d":
        table = sincos2d((rows, columns), config.width)[None].astype("float32")
    else:
        table = np.zeros((1, rows * columns, config.width), "float32")
    has_row = table.shape[1] - rows * columns
    prefix, patches = table[:, :has_row], table[:, has_row:]
    missing = target.position_rows - has_row
    # Tokens without a position get one of zero, which adds nothing.
    zeros = np.zeros((1, missing, config.width), table.dtype)
    return np.concatenate([prefix, zeros, patches], axis=1)


def _write_safetensors(path, arrays, target, model):
    metadata = {"format": "pt", NOTE: json.dumps(target.note(model))}
    if path.suffix == ".safetensors":
        with replacing(path) as temporary:
            save_file(arrays, temporary, metadata)
        return
    with replacing(path) as temporary:
        temporary.mkdir()
        save_file(arrays, temporary / "model.safetensors", metadata)
        for name, content in target.files(model.config).items():
            (temporary / name).write_text(
                json.dumps(content, indent=2, ensure_ascii=False), "utf-8"
            )


def _write_npz(path, arrays, target, model):
    if path.suffix != ".npz":
        raise ValueError(f"`path` must end in .npz for this format. Received: {str(path)!r}.")
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


FORMATS = {
    "hf": Format(hf.target, _write_safetensors),
    "open_clip": Format(clip.open_clip, _write_safetensors),
    "timm": Format(timm_families.target, _write_safetensors),
    "jax": Format(jax.target, _write_npz),
    "mae": Format(mae.official, _write_safetensors),
    "dynamicvit": Format(dynamic_vit.target, _write_safetensors),
}
