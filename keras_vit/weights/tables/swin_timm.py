"""timm's names for Swin, and the authors', who keep the merging with the stage before it."""

import math
import re

from keras_vit.weights.layouts import MATRIX, SAME, torch_fused, torch_fused_bias, torch_patches
from keras_vit.weights.tables.table import (
    Table,
    entry,
    numbered,
    torch_linear,
    torch_mlp,
    torch_norm,
    without_prefix,
)

UNUSED = {
    r".*\.relative_position_index": "an index that is computed anew",
    r".*\.attn_mask": "a mask that is computed anew",
}


def canonical(archive):
    """Names as timm spells them."""
    archive = without_prefix(archive, "module.")
    # Only the authors' first stage has a merging.
    return archive.renamed(_moved) if "layers.0.downsample.norm.weight" in archive else archive


def _moved(name):
    name = re.sub(
        r"^layers\.(\d+)\.downsample\.", lambda m: f"layers.{int(m[1]) + 1}.downsample.", name
    )
    return re.sub(r"^head\.(weight|bias)$", r"head.fc.\1", name)


def entries(config):
    """The entries of a Swin."""
    found = [
        *torch_linear(
            "patch_encoder/projection", "patch_embed.proj", torch_patches(config.patch_size), SAME
        ),
        *torch_norm("patch_norm", "patch_embed.norm"),
    ]
    index = 0
    for stage, (depth, heads) in enumerate(zip(config.depths, config.num_heads, strict=True)):
        if stage:
            merge = f"layers.{stage}.downsample"
            found += torch_norm(f"merge_{stage}/norm", f"{merge}.norm")
            found.append(
                entry(f"merge_{stage}/reduction/kernel", MATRIX, f"{merge}.reduction.weight")
            )
        for block in range(depth):
            found += _block(f"block_{index}", f"layers.{stage}.blocks.{block}", heads)
            index += 1
    found += torch_norm("norm", "norm")
    if config.num_classes:
        found += torch_linear("head", "head.fc", MATRIX, SAME)
    return found


def _block(ours, theirs, heads):
    qkv, qkv_bias = torch_fused(3, heads), torch_fused_bias(3, heads)
    return [
        *torch_norm(f"{ours}/norm1", f"{theirs}.norm1"),
        *torch_linear(f"{ours}/attention/qkv", f"{theirs}.attn.qkv", qkv, qkv_bias),
        *torch_linear(f"{ours}/attention/out", f"{theirs}.attn.proj", MATRIX, SAME),
        entry(
            f"{ours}/attention/relative_bias", SAME, f"{theirs}.attn.relative_position_bias_table"
        ),
        *torch_norm(f"{ours}/norm2", f"{theirs}.norm2"),
        *torch_mlp(f"{ours}/mlp", f"{theirs}.mlp", ("fc1", "fc2")),
    ]


def facts(archive):
    """What the shapes say of the architecture."""
    shapes = archive.shapes
    width, channels, *patch = shapes["patch_embed.proj.weight"]
    stages = range(numbered(archive, r"layers\.(\d+)\.blocks\."))
    tables = [
        shapes[f"layers.{stage}.blocks.0.attn.relative_position_bias_table"] for stage in stages
    ]
    hidden = shapes["layers.0.blocks.0.mlp.fc1.weight"][0]
    return {
        "width": width,
        "channels": channels,
        "patch_size": tuple(patch),
        "depths": tuple(
            numbered(archive, rf"layers\.{stage}\.blocks\.(\d+)\.") for stage in stages
        ),
        "num_heads": tuple(heads for _, heads in tables),
        # Of the first stage, whose map no window covers; not told where it is no square.
        "window_size": window_of(tables[0][0]),
        "mlp_ratio": hidden / width,
        "num_classes": shapes.get("head.fc.weight", (0,))[0],
    }


def window_of(offsets):
    """The side of a window by the number of its offsets, or None where it is no square."""
    side = math.isqrt(offsets)
    return ((side + 1) // 2,) * 2 if side * side == offsets else None


TABLE = Table(canonical, entries, facts, UNUSED)
