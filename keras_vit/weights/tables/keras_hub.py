"""The names of KerasHub's variables for its ViT, DeiT and DINOv2.

KerasHub keeps variables in a model, not in files of its own: a name here begins with the part that
holds the variable (`embeddings`, `encoder`, `layernorm`, `pre_logits`, `predictions`), whatever
the layer is called in a given model. Its layouts are Keras's, those of `MultiHeadAttention`.
"""

import dataclasses

from keras_vit.weights.layouts import (
    SAME,
    Layout,
    flax_output,
    flax_patches,
    flax_projection_biases,
    flax_projections,
)
from keras_vit.weights.tables.table import Table, dense, entry, norm

# A Keras `Embedding`'s table has no batch axis.
EMBEDDING = Layout(lambda x: x[None], lambda x: (x[0],))
TRAINED_POSITIONS = "embeddings/position_embeddings"
UNUSED = {
    r"embeddings/mask_token": "the token of masked patches, for pre-training only",
    TRAINED_POSITIONS: "the positions before KerasHub resized them to the model's image size",
}


@dataclasses.dataclass(frozen=True)
class Names:
    """How one architecture of KerasHub spells its parts; `block` takes the block's number."""

    projection: str
    class_token: str
    registers: str
    position: str
    position_layout: Layout
    block: str
    first_block: int
    norm1: str
    attention: str
    norm2: str
    mlps: dict
    norm: str


VIT_NAMES = Names(
    projection="embeddings/patch_embedding",
    class_token="embeddings/class_token",
    registers="",
    position="embeddings/position_embedding/embeddings",
    position_layout=EMBEDDING,
    block="encoder/transformer_block_{}",
    first_block=1,
    norm1="ln_1",
    attention="mha",
    norm2="ln_2",
    mlps={"mlp": ("mlp/dense_1", "mlp/dense_2")},
    norm="encoder/ln",
)
DEIT_NAMES = dataclasses.replace(
    VIT_NAMES,
    registers="embeddings/distillation_token",
    position="embeddings/position_embedding",
    position_layout=SAME,
    mlps={"mlp": ("mlp/dense", "output_layer/output")},
)
DINOV2_NAMES = Names(
    projection="embeddings/patch_embeddings/projection",
    class_token="embeddings/cls_token",
    registers="embeddings/register_tokens",
    position="embeddings/interpolated_position_embeddings",
    position_layout=SAME,
    block="encoder/layers_{}",
    first_block=0,
    norm1="norm1",
    attention="attention/attention",
    norm2="norm2",
    mlps={"mlp": ("mlp/fc1", "mlp/fc2"), "swiglu": ("mlp/weights_in", "mlp/weights_out")},
    norm="layernorm",
)


def _table(names):
    def entries(config):
        ours = "patch_encoder"
        patches = flax_patches(config.patch_size)
        found = dense(f"{ours}/projection", names.projection, patches)
        if config.class_token:
            found.append(entry(f"{ours}/class_token", SAME, names.class_token))
        if config.registers:
            found.append(entry(f"{ours}/registers", SAME, names.registers))
        found.append(entry(f"{ours}/position", names.position_layout, names.position))
        for index in range(config.depth):
            theirs = names.block.format(index + names.first_block)
            found += _block(f"block_{index}", theirs, names, config)
        found += norm("norm", f"{names.norm}/gamma", f"{names.norm}/beta")
        if config.representation_size:
            found += dense("representation", "pre_logits")
        if config.num_classes:
            found += dense("head", "predictions")
        return found

    return Table(lambda archive: archive, entries, lambda archive: {}, UNUSED)


def _block(ours, theirs, names, config):
    fc1, fc2 = names.mlps[config.mlp]
    attention = f"{theirs}/{names.attention}"
    parts = [f"{attention}/{part}" for part in ("query", "key", "value")]
    kernels, biases = ([f"{part}/{kind}" for part in parts] for kind in ("kernel", "bias"))
    output = flax_output(config.num_heads)
    found = [
        *norm(f"{ours}/norm1", f"{theirs}/{names.norm1}/gamma", f"{theirs}/{names.norm1}/beta"),
        entry(f"{ours}/attention/qkv/kernel", flax_projections(3), *kernels),
        entry(f"{ours}/attention/qkv/bias", flax_projection_biases(3), *biases),
        *dense(f"{ours}/attention/out", f"{attention}/attention_output", output),
        *norm(f"{ours}/norm2", f"{theirs}/{names.norm2}/gamma", f"{theirs}/{names.norm2}/beta"),
        *dense(f"{ours}/mlp/fc1", f"{theirs}/{fc1}"),
        *dense(f"{ours}/mlp/fc2", f"{theirs}/{fc2}"),
    ]
    if config.layer_scale is not None:
        for number in (1, 2):
            scale = f"{theirs}/layer_scale{number}/lambda1"
            found.append(entry(f"{ours}/scale{number}/gamma", SAME, scale))
    return found


VIT, DEIT, DINOV2 = _table(VIT_NAMES), _table(DEIT_NAMES), _table(DINOV2_NAMES)
