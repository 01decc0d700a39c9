"""The names of the JAX codes: the original ViT's and AugReg's, and big_vision's renumbering.

Flax layouts are Keras's own. Names here are big_vision's; what `save` writes follows the model:
the original numbering where the class token has a position, big_vision's where it has none.
"""

import functools
import re

from keras_vit.weights.layouts import (
    SAME,
    flax_output,
    flax_patches,
    flax_projection_biases,
    flax_projections,
)
from keras_vit.weights.tables.table import Table, dense, entry, norm, numbered, without_prefix

ATTENTION, MLP = "MultiHeadDotProductAttention_0", "MlpBlock_0"
BLOCK = r"Transformer/encoderblock_(\d+)/"
STACK = "Transformer/encoderblock/"
# original -> big_vision, inside a block and outside.
RENUMBERED = {
    "MultiHeadDotProductAttention_1": ATTENTION,
    "LayerNorm_2": "LayerNorm_1",
    "MlpBlock_3": MLP,
}
POSITION = "Transformer/posembed_input/pos_embedding"
UNUSED = {
    r"(opt|opt_state|chrono)/.*": "the optimizer's state",
    r"(params/)?(txt|t|b)(/.*)?": "the text tower and temperature of a two-tower model",
}


def canonical(archive):
    """big_vision's names, one array a block."""
    archive = without_prefix(archive, "params/", "params/img/", "img/", "opt/target/", "target/")
    return _unstacked(archive.renamed(_renumbered))


def _renumbered(name):
    if name == POSITION:
        return "pos_embedding"
    match = re.match(f"({BLOCK})([^/]+)(.*)", name)
    if match:
        start, _, part, rest = match.groups()
        return f"{start}{RENUMBERED.get(part, part)}{rest}"
    return name


def _unstacked(archive):
    """Splits arrays of all blocks (depth first, as `nn.scan` leaves them) into one a block."""
    stacked = [name for name, shape in archive.shapes.items() if name.startswith(STACK) and shape]
    if not stacked:
        return archive
    shapes, reads = {}, {}
    for name in stacked:
        depth, *shape = archive.shapes[name]
        slices = _Slices(archive.read, name, depth)
        for index in range(depth):
            new = name.replace(STACK, f"Transformer/encoderblock_{index}/")
            shapes[new] = tuple(shape)
            reads[new] = functools.partial(slices.read, index)
    return archive.with_arrays(reads, shapes, without=stacked)


class _Slices:
    """One array of all blocks, read when its first slice is and kept until its last one is."""

    def __init__(self, read, name, depth):
        self._read, self._name, self._depth = read, name, depth
        self._whole, self._left = None, set()

    def read(self, index):
        if self._whole is None:
            self._whole, self._left = self._read(self._name), set(range(self._depth))
        part = self._whole[index]
        self._left.discard(index)
        if not self._left:
            self._whole = None
        return part


def is_original(config):
    """Whether a model is one of the original code's, not of big_vision's."""
    with_row = config.class_token and config.class_position and config.position == "learned"
    return with_row and config.pooling == "token"


def written(config, name):
    """The name that `save` writes."""
    if not is_original(config):
        return name
    original = {new: old for old, new in RENUMBERED.items()}
    match = re.match(f"({BLOCK})([^/]+)(.*)", name)
    if match:
        start, _, part, rest = match.groups()
        return f"{start}{original.get(part, part)}{rest}"
    return POSITION if name == "pos_embedding" else name


def entries(config):
    """The entries of a ViT."""
    patches = flax_patches(config.patch_size)
    found = dense("patch_encoder/projection", "embedding", patches)
    if config.class_token:
        found.append(entry("patch_encoder/class_token", SAME, "cls"))
    if config.position == "learned":
        found.append(entry("patch_encoder/position", SAME, "pos_embedding"))
    for index in range(config.depth):
        found += _block(f"block_{index}", f"Transformer/encoderblock_{index}", config.num_heads)
    found += norm("norm", "Transformer/encoder_norm/scale", "Transformer/encoder_norm/bias")
    if config.pooling == "map":
        found += _attention_pooling("pool", "MAPHead_0", config.num_heads)
    if config.representation_size:
        found += dense("representation", "pre_logits")
    if config.num_classes:
        found += dense("head", "head")
    return found


def _block(ours, theirs, heads):
    return [
        *norm(f"{ours}/norm1", f"{theirs}/LayerNorm_0/scale", f"{theirs}/LayerNorm_0/bias"),
        *_projections(f"{ours}/attention/qkv", f"{theirs}/{ATTENTION}", "query key value"),
        *dense(f"{ours}/attention/out", f"{theirs}/{ATTENTION}/out", flax_output(heads)),
        *norm(f"{ours}/norm2", f"{theirs}/LayerNorm_1/scale", f"{theirs}/LayerNorm_1/bias"),
        *_mlp(f"{ours}/mlp", f"{theirs}/{MLP}"),
    ]


def _attention_pooling(ours, theirs, heads):
    attention = f"{theirs}/{ATTENTION}"
    return [
        entry(f"{ours}/probe", SAME, f"{theirs}/probe"),
        *_projections(f"{ours}/attention/query", attention, "query"),
        *_projections(f"{ours}/attention/key_value", attention, "key value"),
        *dense(f"{ours}/attention/out", f"{attention}/out", flax_output(heads)),
        *norm(f"{ours}/norm", f"{theirs}/LayerNorm_0/scale", f"{theirs}/LayerNorm_0/bias"),
        *_mlp(f"{ours}/mlp", f"{theirs}/{MLP}"),
    ]


def _projections(ours, theirs, parts):
    parts = parts.split()
    kernels, biases = ([f"{theirs}/{part}/{kind}" for part in parts] for kind in ("kernel", "bias"))
    return [
        entry(f"{ours}/kernel", flax_projections(len(parts)), *kernels),
        entry(f"{ours}/bias", flax_projection_biases(len(parts)), *biases),
    ]


def _mlp(ours, theirs):
    return dense(f"{ours}/fc1", f"{theirs}/Dense_0") + dense(f"{ours}/fc2", f"{theirs}/Dense_1")


def facts(archive):
    """What the shapes say of the architecture."""
    shapes, block = archive.shapes, "Transformer/encoderblock_0"
    *patch, channels, width = shapes["embedding/kernel"]
    return {
        "width": width,
        "channels": channels,
        "patch_size": tuple(patch),
        "depth": numbered(archive, BLOCK),
        "num_heads": shapes.get(f"{block}/{ATTENTION}/query/kernel", (0, None))[1],
        "mlp_dim": shapes.get(f"{block}/{MLP}/Dense_0/kernel", (0, None))[1],
        "class_token": "cls" in archive,
        "registers": 0,
        "position_rows": shapes.get("pos_embedding", (1, 0))[1],
        "layer_scale": False,
        "representation_size": shapes.get("pre_logits/kernel", (0, None))[1],
        "num_classes": shapes.get("head/kernel", (0, 0))[1],
        "pooling": _pooling(archive),
    }


def _pooling(archive):
    if "MAPHead_0/probe" in archive:
        return "map"
    return "token" if "cls" in archive else "gap"


TABLE = Table(canonical, entries, facts, UNUSED, written)
