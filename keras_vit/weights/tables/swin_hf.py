"""The names of Hugging Face transformers for Swin.

Files keep the names of transformers 4, and transformers 5 still writes them; the names that
version 5 uses in memory are read too.
"""

import re

from keras_vit.weights.layouts import MATRIX, SAME, torch_patches, torch_split, torch_split_bias
from keras_vit.weights.tables import swin_timm
from keras_vit.weights.tables.table import (
    Table,
    entry,
    numbered,
    torch_linear,
    torch_norm,
    without_prefix,
)

# transformers 5 -> 4.
SPELLINGS = (
    (r"\.attention\.q_proj\.", ".attention.self.query."),
    (r"\.attention\.k_proj\.", ".attention.self.key."),
    (r"\.attention\.v_proj\.", ".attention.self.value."),
    (r"\.attention\.o_proj\.", ".attention.output.dense."),
    (r"\.attention\.relative_position_bias\.", ".attention.self."),
    (r"\.mlp\.fc1\.", ".intermediate.dense."),
    (r"\.mlp\.fc2\.", ".output.dense."),
)
UNUSED = {
    r".*\.relative_position_index": "an index that is computed anew",
    r"embeddings\.mask_token": "the token of masked patches, for pre-training only",
}
LAYERS = "encoder.layers"


def canonical(archive):
    """Names as transformers 4 spells them, without the prefix of a model with a head."""

    def respelled(name):
        for pattern, spelling in SPELLINGS:
            name = re.sub(pattern, spelling, name)
        return name

    return without_prefix(archive, "swin.").renamed(respelled)


def entries(config):
    """The entries of a Swin."""
    patches = torch_patches(config.patch_size)
    embeddings = "embeddings.patch_embeddings.projection"
    found = [
        *torch_linear("patch_encoder/projection", embeddings, patches, SAME),
        *torch_norm("patch_norm", "embeddings.norm"),
    ]
    index = 0
    for stage, (depth, heads) in enumerate(zip(config.depths, config.num_heads, strict=True)):
        if stage:
            merge = f"{LAYERS}.{stage - 1}.downsample"
            found += torch_norm(f"merge_{stage}/norm", f"{merge}.norm")
            found.append(
                entry(f"merge_{stage}/reduction/kernel", MATRIX, f"{merge}.reduction.weight")
            )
        for block in range(depth):
            found += _block(f"block_{index}", f"{LAYERS}.{stage}.blocks.{block}", heads)
            index += 1
    found += torch_norm("norm", "layernorm")
    if config.num_classes:
        found += torch_linear("head", "classifier", MATRIX, SAME)
    return found


def _block(ours, theirs, heads):
    attention, parts = f"{theirs}.attention.self", ("query", "key", "value")
    kernels, biases = ([f"{attention}.{part}.{kind}" for part in parts] for kind in KINDS)
    return [
        *torch_norm(f"{ours}/norm1", f"{theirs}.layernorm_before"),
        entry(f"{ours}/attention/qkv/kernel", torch_split(3, heads), *kernels),
        entry(f"{ours}/attention/qkv/bias", torch_split_bias(3, heads), *biases),
        *torch_linear(f"{ours}/attention/out", f"{theirs}.attention.output.dense", MATRIX, SAME),
        entry(f"{ours}/attention/relative_bias", SAME, f"{attention}.relative_position_bias_table"),
        *torch_norm(f"{ours}/norm2", f"{theirs}.layernorm_after"),
        *torch_linear(f"{ours}/mlp/fc1", f"{theirs}.intermediate.dense", MATRIX, SAME),
        *torch_linear(f"{ours}/mlp/fc2", f"{theirs}.output.dense", MATRIX, SAME),
    ]


KINDS = ("weight", "bias")


def facts(archive):
    """What the shapes say of the architecture."""
    shapes = archive.shapes
    width, channels, *patch = shapes["embeddings.patch_embeddings.projection.weight"]
    stages = range(numbered(archive, r"encoder\.layers\.(\d+)\.blocks\."))
    table = "blocks.0.attention.self.relative_position_bias_table"
    tables = [shapes[f"{LAYERS}.{stage}.{table}"] for stage in stages]
    hidden = shapes[f"{LAYERS}.0.blocks.0.intermediate.dense.weight"][0]
    return {
        "width": width,
        "channels": channels,
        "patch_size": tuple(patch),
        "depths": tuple(
            numbered(archive, rf"encoder\.layers\.{stage}\.blocks\.(\d+)\.") for stage in stages
        ),
        "num_heads": tuple(heads for _, heads in tables),
        "window_size": swin_timm.window_of(tables[0][0]),
        "mlp_ratio": hidden / width,
        "num_classes": shapes.get("classifier.weight", (0,))[0],
    }


def written(config, name):
    """A name as transformers spells it."""
    return name if name.startswith("classifier") or not config.num_classes else f"swin.{name}"


TABLE = Table(canonical, entries, facts, UNUSED, written)
