"""A file of weights, understood: its arrays under canonical names, and the config they need."""

import dataclasses
import math
from pathlib import Path

from keras_vit.layers.sizes import pair, patch_grid
from keras_vit.weights.archives import Archive, open_archive
from keras_vit.weights.metadata import fields_of, source_of, unknown_kind
from keras_vit.weights.sources import SOURCES, Source, source_named, table_of
from keras_vit.weights.tables.table import Table

# Facts of the shapes that are no fields of the config as they stand.
OTHER_FACTS = ("layer_scale", "pooling", "image_size")
# What a file states that is weighed against the facts of its shapes.
FITTED = ("pooling", "image_size", "preprocessing")
POOLINGS_WITH_ARRAYS = ("map", "gap_then_norm", "token_and_mean")


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """An opened file of weights.

    Args:
        archive: the arrays, under the canonical names of the source's table.
        source_name: key of `SOURCES`.
        fields: the config that these weights need: fields of the model's config, those that the
            file tells; `layer_scale` is a number where there is LayerScale.
        position_rows: rows of the position table that belong to tokens before the patches.
        grid: (rows, columns) of the position table, None without one.
        table: the names for the model at hand.
    """

    archive: Archive
    source_name: str
    fields: dict
    position_rows: int
    grid: tuple | None
    table: Table

    @property
    def source(self) -> Source:
        """The code that the file comes from."""
        return SOURCES[self.source_name]


def open_checkpoint(path, model_class, format=None, image_size=None, model_grid=None, told=None):
    """Opens weights and works out which config they need; reads no array yet.

    Args:
        path: see `open_archive`.
        model_class: class of the model to fill.
        format: key of `SOURCES`, or None to take it from the file's metadata.
        image_size: (height, width) that the file's positions are for, where it does not say and
            they are not square.
        model_grid: grid of the model to fill, tried where nothing else tells.
        told: what is known from elsewhere, such as the catalogue: `image_size`, `preprocessing`.

    Raises:
        ValueError: if the format is not told, or the file is not of that format.
        FileNotFoundError: if there is no such file.
    """
    archive = open_archive(path)
    name = _source_name(archive, format)
    source, table = source_named(name), table_of(name, model_class)
    canonical = table.canonical(archive)
    facts = _facts(canonical, table, name)
    told = {**(told or {}), **fields_of(archive.metadata)}
    if facts.get("image_size"):
        told = {"image_size": facts["image_size"], **told}
    if image_size is not None:
        told["image_size"] = image_size
    rows, grid = _position_grid(facts, told, model_grid, archive.origin)
    if source.position is None and not (grid and facts["class_token"]):
        lacking = "position table" if facts["class_token"] else "class token"
        raise ValueError(
            f"{archive.origin} holds no {lacking}, which every file of the format {name!r} has."
        )
    fields = _fields(source, facts, told, rows, grid)
    known = {field.name for field in dataclasses.fields(model_class.config_class)}
    fields = {name: value for name, value in fields.items() if name in known}
    return Checkpoint(canonical, name, fields, rows, grid, table)


def _facts(archive, table, name):
    """What the shapes say, if they are those of the format."""
    try:
        facts = table.facts(archive)
        if len(facts.get("patch_size", (1, 1))) != 2:
            raise ValueError("the patch kernel has not four axes")
    except (KeyError, ValueError, IndexError) as error:
        lost = isinstance(error, KeyError)
        told = f"there is no {error}" if lost else f"its shapes are others ({error})"
        raise ValueError(
            f"{archive.origin} is not of the format {name!r}: {told}. "
            f"Its first arrays: {', '.join(sorted(archive.shapes)[:5])}."
        ) from error
    return facts


def _source_name(archive, format):
    told = source_of(archive.metadata)
    if format is not None:
        # timm hosts DeiT and DINOv2 files under its own names: those are no contradiction.
        tables = source_named(format).tables
        if told and not any(table in tables.values() for table in SOURCES[told].tables.values()):
            raise ValueError(
                f"`format` is {format!r}, but {archive.origin} says of itself that it is {told!r}."
            )
        return format
    if told:
        return told
    suffix = Path(archive.origin).suffix
    choices = [name for name, source in SOURCES.items() if suffix in source.files]
    kind = unknown_kind(archive.metadata)
    said = f"says that it is {kind!r}, which we do not know" if kind else "does not say what it is"
    raise ValueError(
        f"{archive.origin} {said}. Its arrays alone do not tell the conventions. State its format "
        f"(`format` in load, `weights_format` in create_model), one of: {', '.join(choices)}."
    )


def _position_grid(facts, told, model_grid, origin):
    """(rows for prefix tokens, grid) of the position table."""
    count = facts.get("position_rows")
    if not count:
        return 0, None
    most = int(facts["class_token"]) + facts["registers"]
    candidates = {0, int(facts["class_token"]), most}
    if "image_size" in told:
        grid = patch_grid(_plain(told["image_size"]), facts["patch_size"])
        rows = count - grid[0] * grid[1]
        if rows not in candidates:
            raise ValueError(
                f"{origin}: {count} positions do not fit images of {told['image_size']} pixels "
                f"in patches of {facts['patch_size']}."
            )
        return rows, grid
    readings = _readings(count, sorted(candidates), model_grid)
    if len(readings) == 1:
        return readings[0]
    grids = " or ".join(f"{rows} + {grid[0]}×{grid[1]}" for rows, grid in readings)
    found = f"may be {grids}" if grids else "are no square grid, and nothing tells their shape"
    raise ValueError(
        f"{origin}: {count} positions {found}. State the size of the file's images "
        "(`image_size` in load, `weights_image_size` in create_model)."
    )


def _readings(count, candidates, model_grid):
    """What a table of `count` rows may be: (rows for prefix tokens, grid) each."""
    # The perfect-square test, of all numbers of prefix rows: 196 is 14 x 14, 197 one more.
    found = []
    for rows in candidates:
        side = math.isqrt(max(count - rows, 0))
        if side and side * side == count - rows:
            found.append((rows, (side, side)))
    if model_grid:
        own = (count - model_grid[0] * model_grid[1], tuple(model_grid))
        if own[0] in candidates and own not in found:
            found.append(own)
    return found


def _plain(value):
    """JSON's lists as tuples."""
    return tuple(value) if isinstance(value, list | tuple) else value


def _fields(source, facts, told, rows, grid):
    """The config that the weights need."""
    fields = {
        name: value
        for name, value in facts.items()
        if name not in OTHER_FACTS and (value is not None or name == "representation_size")
    }
    fields |= {
        "activation": source.activation,
        "norm_epsilon": source.norm_epsilon,
        "attention": "softmax",
        "position": "learned" if grid else source.position,
        # Our DeiT has its tokens' positions in the tokens.
        "class_position": bool(rows and facts["class_token"]) and not facts.get("distilled"),
        "layer_scale": 1e-5 if facts.get("layer_scale") else None,
    }
    image_size = told.get("image_size")
    if image_size is None and grid:
        image_size = tuple(g * p for g, p in zip(grid, facts["patch_size"], strict=True))
    if image_size is not None:
        fields["image_size"] = pair("image_size", _plain(image_size))
    fields |= {name: _plain(x) for name, x in told.items() if name not in FITTED}
    if facts.get("mlp") == "swiglu":
        fields["activation"] = "silu"  # whatever the file calls its activation
    fields["pooling"] = _pooling(facts, told)
    preprocessing = _for_channels(source.preprocessing, facts["channels"])
    fields["preprocessing"] = {**preprocessing, **told.get("preprocessing", {})}
    return fields


def _for_channels(preprocessing, channels):
    """A source's mean and std, where all channels share theirs, for another number of channels."""
    values = {name: set(preprocessing[name]) for name in ("mean", "std")}
    if max(map(len, values.values())) > 1:
        return preprocessing
    return {**preprocessing, **{name: tuple(found) * channels for name, found in values.items()}}


def _pooling(facts, told):
    found = facts.get("pooling")
    if found in POOLINGS_WITH_ARRAYS:
        return found
    return told.get("pooling") or found or ("token" if facts.get("class_token") else "gap")
