"""timm's names for the plain ViT, which DeiT, DeiT-III, DINOv2 and MAE files share.

The research codes differ in a few words: LayerScale is `gamma_1` in DeiT-III, registers are
`register_tokens` and SwiGLU's matrices `w12` and `w3` in DINOv2. All are read; timm's are written.
"""

import re

from keras_vit.weights.layouts import (
    MATRIX,
    SAME,
    torch_fused,
    torch_fused_bias,
    torch_patches,
)
from keras_vit.weights.tables.table import (
    Entry,
    Table,
    entry,
    numbered,
    torch_linear,
    torch_mlp,
    torch_norm,
    without_prefix,
)

SPELLINGS = (
    (r"blocks\.(\d+)\.gamma_([12])", r"blocks.\1.ls\2.gamma"),
    (r"register_tokens", r"reg_token"),
    (r"blocks\.(\d+)\.mlp\.w12\.(\w+)", r"blocks.\1.mlp.fc1.\2"),
    (r"blocks\.(\d+)\.mlp\.w3\.(\w+)", r"blocks.\1.mlp.fc2.\2"),
)
UNUSED = {
    r"mask_token": "the token of masked patches, for pre-training only",
    r"decoder_.*": "MAE's decoder, for pre-training only",
}


def canonical(archive):
    """Names as timm spells them."""
    return without_prefix(archive, "module.").renamed(_respelled)


def _respelled(name):
    for pattern, spelling in SPELLINGS:
        name = re.sub(f"^{pattern}$", spelling, name)
    return name


def entries(config):
    """The entries of a ViT."""
    heads = config.num_heads
    found = [
        *torch_linear(
            "patch_encoder/projection",
            "patch_embed.proj",
            torch_patches(config.projection_size),
            SAME,
        )
    ]
    if config.class_token:
        found.append(entry("patch_encoder/class_token", SAME, "cls_token"))
    if config.registers:
        # A distilled DeiT may be read as a plain ViT, too, if its second head is left out.
        tokens = (("reg_token",), SAME), (("dist_token",), SAME)
        found.append(Entry("patch_encoder/registers", tokens))
    if config.position == "learned":
        found.append(entry("patch_encoder/position", SAME, "pos_embed"))
    for index in range(config.depth):
        found += _block(f"block_{index}", f"blocks.{index}", heads, config.layer_scale)
    norm = "fc_norm" if config.pooling == "gap_then_norm" else "norm"
    found += torch_norm("norm", norm)
    if config.pooling == "map":
        found += _attention_pooling(heads)
    if config.num_classes:
        found += torch_linear("head", "head", MATRIX, SAME)
    return found


def _block(ours, theirs, heads, scales):
    qkv, qkv_bias = torch_fused(3, heads), torch_fused_bias(3, heads)
    found = [
        *torch_norm(f"{ours}/norm1", f"{theirs}.norm1"),
        *torch_linear(f"{ours}/attention/qkv", f"{theirs}.attn.qkv", qkv, qkv_bias),
        *torch_linear(f"{ours}/attention/out", f"{theirs}.attn.proj", MATRIX, SAME),
        *torch_norm(f"{ours}/norm2", f"{theirs}.norm2"),
        *torch_mlp(f"{ours}/mlp", f"{theirs}.mlp", ("fc1", "fc2")),
    ]
    if scales is not None:
        found += [entry(f"{ours}/scale{n}/gamma", SAME, f"{theirs}.ls{n}.gamma") for n in (1, 2)]
    return found


def _attention_pooling(heads):
    parts = {"query": ("q", 1), "key_value": ("kv", 2)}
    found = [entry("pool/probe", SAME, "attn_pool.latent")]
    for ours, (theirs, count) in parts.items():
        layouts = torch_fused(count, heads), torch_fused_bias(count, heads)
        found += torch_linear(f"pool/attention/{ours}", f"attn_pool.{theirs}", *layouts)
    return [
        *found,
        *torch_linear("pool/attention/out", "attn_pool.proj", MATRIX, SAME),
        *torch_norm("pool/norm", "attn_pool.norm"),
        *torch_mlp("pool/mlp", "attn_pool.mlp", ("fc1", "fc2")),
    ]


def facts(archive):
    """What the shapes say of the architecture."""
    shapes = archive.shapes
    width, channels, *patch = shapes["patch_embed.proj.weight"]
    out = shapes["blocks.0.mlp.fc2.weight"][1] if "blocks.0.mlp.fc2.weight" in archive else None
    into = shapes["blocks.0.mlp.fc1.weight"][0] if "blocks.0.mlp.fc1.weight" in archive else None
    return {
        "width": width,
        "channels": channels,
        "patch_size": tuple(patch),
        "depth": numbered(archive, r"blocks\.(\d+)\."),
        "mlp_dim": out,
        "mlp": "swiglu" if out and into == 2 * out else "mlp",
        "class_token": "cls_token" in archive,
        "registers": shapes.get("reg_token", shapes.get("dist_token", (1, 0)))[1],
        "distilled": "dist_token" in archive,
        "position_rows": shapes.get("pos_embed", (1, 0))[1],
        "layer_scale": "blocks.0.ls1.gamma" in archive,
        "num_classes": shapes.get("head.weight", (0,))[0],
        "pooling": _pooling(archive),
    }


def _pooling(archive):
    if "attn_pool.latent" in archive:
        return "map"
    if "fc_norm.weight" in archive:
        return "gap_then_norm"
    return None if "cls_token" in archive else "gap"


def distilled_entries(config):
    """The entries of a distilled DeiT."""
    ours = "patch_encoder/registers"
    return [
        *(line for line in entries(config) if line.ours != ours),
        entry(ours, SAME, "dist_token"),
        *torch_linear("head_distillation", "head_dist", MATRIX, SAME),
    ]


TABLE = Table(canonical, entries, facts, UNUSED)
DISTILLED = Table(canonical, distilled_entries, facts, UNUSED)
