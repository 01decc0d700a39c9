"""timm's names for CoAtNet. Its 1 x 1 convolutions stand where ours are matrices, too."""

import math

from keras_vit.models.coatnet import ATTENTION, CONV
from keras_vit.weights import layouts
from keras_vit.weights.layouts import DEPTHWISE, MATRIX, POINTWISE, SAME
from keras_vit.weights.tables.table import (
    Table,
    entry,
    numbered,
    torch_batch_norm,
    torch_linear,
    torch_norm,
    without_prefix,
)

UNUSED = {
    r".*\.num_batches_tracked": "a count for averages that are not moving ones",
    r".*\.relative_position_index": "an index that is computed anew",
}


def canonical(archive):
    """Names as timm spells them."""
    return without_prefix(archive, "module.")


def entries(config):
    """The entries of a CoAtNet."""
    found = [
        _kernel("stem/conv1", "stem.conv1"),
        *torch_batch_norm("stem/norm", "stem.norm1"),
        _kernel("stem/conv2", "stem.conv2"),
    ]
    index, before = 0, config.stem_width
    for stage, (kind, width, depth, halve) in enumerate(config.stages):
        for turn in range(depth):
            names = f"block_{index}", f"stages.{stage}.blocks.{turn}"
            if kind == CONV:
                found += _conv_block(*names)
            else:
                found += _attention_block(*names, width // config.head_dim, halve and not turn)
            if before != width:
                found += _pixels(f"{names[0]}/shortcut/project", f"{names[1]}.shortcut.expand")
            index, before = index + 1, width
    return found + _head(config)


def _conv_block(ours, theirs):
    return [
        *torch_batch_norm(f"{ours}/pre_norm", f"{theirs}.pre_norm"),
        _kernel(f"{ours}/expand", f"{theirs}.conv1_1x1"),
        *torch_batch_norm(f"{ours}/norm1", f"{theirs}.norm1"),
        entry(f"{ours}/depthwise/kernel", DEPTHWISE, f"{theirs}.conv2_kxk.weight"),
        *torch_batch_norm(f"{ours}/norm2", f"{theirs}.norm2"),
        *torch_linear(f"{ours}/squeeze/fc1", f"{theirs}.se.fc1", POINTWISE, SAME),
        *torch_linear(f"{ours}/squeeze/fc2", f"{theirs}.se.fc2", POINTWISE, SAME),
        *_pixels(f"{ours}/project", f"{theirs}.conv3_1x1"),
    ]


def _attention_block(ours, theirs, heads, halves):
    qkv, qkv_bias = layouts.torch_by_head(3, heads), layouts.torch_by_head_bias(3, heads)
    table = f"{theirs}.attn.rel_pos.relative_position_bias_table"
    return [
        *torch_norm(f"{ours}/norm1", f"{theirs}.norm1{'.norm' if halves else ''}"),
        *torch_linear(f"{ours}/attention/qkv", f"{theirs}.attn.qkv", qkv, qkv_bias),
        *torch_linear(f"{ours}/attention/out", f"{theirs}.attn.proj", POINTWISE, SAME),
        entry(f"{ours}/attention/relative_bias", SAME, table),
        *torch_norm(f"{ours}/norm2", f"{theirs}.norm2"),
        *torch_linear(f"{ours}/mlp/fc1", f"{theirs}.mlp.fc1", POINTWISE, SAME),
        *torch_linear(f"{ours}/mlp/fc2", f"{theirs}.mlp.fc2", POINTWISE, SAME),
    ]


def _head(config):
    found = torch_norm("norm", "head.norm" if config.pooling == "gap_then_norm" else "norm")
    if config.representation_size:
        found += torch_linear("representation", "head.pre_logits.fc", MATRIX, SAME)
    if config.num_classes:
        found += torch_linear("head", "head.fc", MATRIX, SAME)
    return found


def _kernel(ours, theirs):
    return entry(f"{ours}/kernel", layouts.CONV, f"{theirs}.weight")


def _pixels(ours, theirs):
    """A convolution with a bias."""
    return torch_linear(ours, theirs, layouts.CONV, SAME)


def facts(archive):
    """What the shapes say of the architecture."""
    shapes = archive.shapes
    stem, channels, *_ = shapes["stem.conv1.weight"]
    stages = tuple(_stage(archive, stage) for stage in range(numbered(archive, r"stages\.(\d+)\.")))
    return {
        "stem_width": stem,
        "channels": channels,
        "stages": stages,
        **_of_the_first_blocks(shapes, stages),
        "representation_size": shapes.get("head.pre_logits.fc.weight", (None,))[0],
        "num_classes": shapes.get("head.fc.weight", (0,))[0],
        "pooling": "gap_then_norm" if "head.norm.weight" in archive else "gap",
        "image_size": _image_size(shapes, stages),
    }


def _stage(archive, stage):
    block, shapes = f"stages.{stage}.blocks.0", archive.shapes
    depth = numbered(archive, rf"stages\.{stage}\.blocks\.(\d+)\.")
    if f"{block}.conv2_kxk.weight" in archive:
        return CONV, shapes[f"{block}.conv3_1x1.weight"][0], depth, True
    return ATTENTION, shapes[f"{block}.attn.proj.weight"][0], depth, True


def _of_the_first_blocks(shapes, stages):
    """Sizes that all blocks of a kind share, read off the first."""
    found = {}
    for stage, (kind, width, _, _) in enumerate(stages):
        block = f"stages.{stage}.blocks.0"
        if kind == CONV:
            found["expansion"] = shapes[f"{block}.conv1_1x1.weight"][0] // width
        else:
            heads = shapes[_table(stage)][1]
            found["head_dim"] = width // heads
    return found


def _image_size(shapes, stages):
    """Side of the images that the tables are for, None where they are not square."""
    for stage, (kind, *_) in enumerate(stages):
        if kind == ATTENTION:
            side = math.isqrt(shapes[_table(stage)][0])
            square = side * side == shapes[_table(stage)][0]
            return (side + 1) // 2 * 2 ** (stage + 2) if square else None
    return None


def _table(stage):
    return f"stages.{stage}.blocks.0.attn.rel_pos.relative_position_bias_table"


TABLE = Table(canonical, entries, facts, UNUSED)
