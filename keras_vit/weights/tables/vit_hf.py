"""The names of Hugging Face transformers for ViT, DeiT and DINOv2.

Files keep the names of transformers 4, and transformers 5 still writes them; the names that
version 5 uses in memory are read too.
"""

import dataclasses
import re

from keras_vit.weights.layouts import (
    MATRIX,
    SAME,
    joined_matrices,
    joined_vectors,
    torch_patches,
    torch_split,
    torch_split_bias,
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

PREFIXES = ("vit.", "deit.", "dinov2.", "dinov2_with_registers.")
LAYER = r"encoder\.layer\.(\d+)\."
# transformers 5 -> 4.
SPELLINGS = (
    (r"^(encoder\.)?layers?\.(\d+)\.", r"encoder.layer.\2."),
    (r"\.attention\.q_proj\.", ".attention.attention.query."),
    (r"\.attention\.k_proj\.", ".attention.attention.key."),
    (r"\.attention\.v_proj\.", ".attention.attention.value."),
    (r"\.attention\.o_proj\.", ".attention.output.dense."),
)
MLP_SPELLINGS = (
    (r"\.mlp\.fc1\.", ".intermediate.dense."),
    (r"\.mlp\.fc2\.", ".output.dense."),
)
UNUSED = {
    r"embeddings\.mask_token": "the token of masked patches, for pre-training only",
    r"pooler\.dense\.(weight|bias)": "the pooler, which no classifier uses",
}
VIT_NAMES = {
    "norm1": "layernorm_before",
    "norm2": "layernorm_after",
    "fc1": "intermediate.dense",
    "fc2": "output.dense",
}
DINOV2_NAMES = {"norm1": "norm1", "norm2": "norm2", "fc1": "mlp.fc1", "fc2": "mlp.fc2"}


def _canonical(spellings):
    def respelled(name):
        for pattern, spelling in spellings:
            name = re.sub(pattern, spelling, name)
        return name

    return lambda archive: without_prefix(archive, *PREFIXES).renamed(respelled)


def _entries(names):
    def entries(config):
        patches = torch_patches(config.patch_size)
        found = torch_linear(
            "patch_encoder/projection", "embeddings.patch_embeddings.projection", patches, SAME
        )
        if config.class_token:
            found.append(entry("patch_encoder/class_token", SAME, "embeddings.cls_token"))
        if config.registers:
            registers = (("embeddings.register_tokens",), SAME)
            distillation = (("embeddings.distillation_token",), SAME)
            found.append(Entry("patch_encoder/registers", (registers, distillation)))
        if config.position == "learned":
            found.append(entry("patch_encoder/position", SAME, "embeddings.position_embeddings"))
        for index in range(config.depth):
            found += _block(f"block_{index}", f"encoder.layer.{index}", names, config)
        found += torch_norm("norm", "layernorm")
        if config.representation_size:
            found += torch_linear("representation", "pooler.dense", MATRIX, SAME)
        if config.num_classes:
            found += torch_linear("head", "classifier", MATRIX, SAME)
        return found

    return entries


def _block(ours, theirs, names, config):
    heads, self_attention = config.num_heads, f"{theirs}.attention.attention"
    parts = ("query", "key", "value")
    qkv = [f"{self_attention}.{part}" for part in parts]
    found = [
        *torch_norm(f"{ours}/norm1", f"{theirs}.{names['norm1']}"),
        entry(f"{ours}/attention/qkv/kernel", torch_split(3, heads), *[f"{n}.weight" for n in qkv]),
        entry(
            f"{ours}/attention/qkv/bias", torch_split_bias(3, heads), *[f"{n}.bias" for n in qkv]
        ),
        *torch_linear(f"{ours}/attention/out", f"{theirs}.attention.output.dense", MATRIX, SAME),
        *torch_norm(f"{ours}/norm2", f"{theirs}.{names['norm2']}"),
        *_mlp(f"{ours}/mlp", theirs, names, config),
    ]
    if config.layer_scale is not None:
        found += [
            entry(f"{ours}/scale{n}/gamma", SAME, f"{theirs}.layer_scale{n}.lambda1")
            for n in (1, 2)
        ]
    return found


def _mlp(ours, theirs, names, config):
    if config.mlp == "swiglu":
        return _swiglu(ours, theirs)
    return torch_mlp(ours, theirs, (names["fc1"], names["fc2"]))


def _swiglu(ours, theirs):
    """`weights_in` holds gate and value; transformers 5 keeps them apart in memory."""
    gates = [f"{theirs}.mlp.gate_proj", f"{theirs}.mlp.up_proj"]
    joined = {
        "kernel": ("weight", MATRIX, joined_matrices(2)),
        "bias": ("bias", SAME, joined_vectors(2)),
    }
    found = []
    for kind, (word, layout, pair) in joined.items():
        into = ((f"{theirs}.mlp.weights_in.{word}",), layout)
        apart = (tuple(f"{gate}.{word}" for gate in gates), pair)
        out = ((f"{theirs}.mlp.weights_out.{word}",), layout)
        down = ((f"{theirs}.mlp.down_proj.{word}",), layout)
        found += [
            Entry(f"{ours}/fc1/{kind}", (into, apart)),
            Entry(f"{ours}/fc2/{kind}", (out, down)),
        ]
    return found


def _facts(names):
    def facts(archive):
        shapes, first = archive.shapes, "encoder.layer.0"
        width, channels, *patch = shapes["embeddings.patch_embeddings.projection.weight"]
        swiglu = [f"{first}.mlp.weights_out.weight", f"{first}.mlp.down_proj.weight"]
        out = next((shapes[name] for name in swiglu if name in archive), None)
        plain = shapes.get(f"{first}.{names['fc1']}.weight", (None,))
        distilled = "embeddings.distillation_token" in archive
        # DINOv2's head takes class token and mean of the patch tokens together.
        both = shapes.get("classifier.weight", (0, 0))[1] == 2 * width
        return {
            "width": width,
            "channels": channels,
            "patch_size": tuple(patch),
            "depth": numbered(archive, LAYER),
            "mlp_dim": out[1] if out else plain[0],
            "mlp": "swiglu" if out else "mlp",
            "class_token": True,
            "distilled": distilled,
            "registers": int(distilled) or shapes.get("embeddings.register_tokens", (1, 0))[1],
            "position_rows": shapes["embeddings.position_embeddings"][1],
            "layer_scale": f"{first}.layer_scale1.lambda1" in archive,
            "num_classes": shapes.get("classifier.weight", (0,))[0],
            "pooling": "token_and_mean" if both else None,
        }

    return facts


def distilled_entries(config):
    """The entries of a distilled DeiT: `DeiTForImageClassificationWithTeacher`."""
    ours = "patch_encoder/registers"
    backbone = _entries(VIT_NAMES)(dataclasses.replace(config, num_classes=0))
    return [
        *(line for line in backbone if line.ours != ours),
        entry(ours, SAME, "embeddings.distillation_token"),
        *torch_linear("head", "cls_classifier", MATRIX, SAME),
        *torch_linear("head_distillation", "distillation_classifier", MATRIX, SAME),
    ]


def distilled_facts(archive):
    """What the shapes of a distilled DeiT say."""
    classes = archive.shapes["cls_classifier.weight"][0]
    return {**_facts(VIT_NAMES)(archive), "num_classes": classes}


VIT = Table(_canonical(SPELLINGS + MLP_SPELLINGS), _entries(VIT_NAMES), _facts(VIT_NAMES), UNUSED)
DISTILLED = dataclasses.replace(VIT, entries=distilled_entries, facts=distilled_facts)
DINOV2 = Table(_canonical(SPELLINGS), _entries(DINOV2_NAMES), _facts(DINOV2_NAMES), UNUSED)
