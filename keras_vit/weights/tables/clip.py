"""CLIP's names: OpenAI's, which OpenCLIP keeps, and transformers'."""

import re

from keras_vit.weights.layouts import (
    MATRIX,
    SAME,
    Layout,
    torch_fused,
    torch_fused_bias,
    torch_patches,
    torch_split,
    torch_split_bias,
)
from keras_vit.weights.tables.table import (
    Table,
    entry,
    numbered,
    torch_linear,
    torch_mlp,
    torch_norm,
    without_prefix,
)

CLASS_TOKEN = Layout(lambda x: x[None, None], lambda x: (x[0, 0],))
POSITIONS = Layout(lambda x: x[None], lambda x: (x[0],))
NUMBER = Layout(lambda x: x.reshape(()), lambda x: (x,))
UNUSED = {
    r"input_resolution|context_length|vocab_size": "a size, which the shapes tell",
    r"(.*\.)?(position_ids|attn_mask)": "counts places, and holds nothing that was learned",
}
# What both towers have, by our names: theirs for the image tower and for the text tower.
OPENAI = {
    "blocks": ("visual.transformer.resblocks", "transformer.resblocks"),
    "norm": ("visual.ln_post", "ln_final"),
    "projection": ("visual.proj", "text_projection"),
    "position": ("visual.positional_embedding", "positional_embedding"),
    "kernel": "visual.conv1.weight",
    "class_token": "visual.class_embedding",
    "norm_pre": "visual.ln_pre",
    "embedding": "token_embedding.weight",
    "block": ("ln_1", "ln_2", ("mlp.c_fc", "mlp.c_proj"), "attn.out_proj"),
}
HF = {
    "blocks": ("vision_model.encoder.layers", "text_model.encoder.layers"),
    "norm": ("vision_model.post_layernorm", "text_model.final_layer_norm"),
    "projection": ("visual_projection.weight", "text_projection.weight"),
    "position": (
        "vision_model.embeddings.position_embedding.weight",
        "text_model.embeddings.position_embedding.weight",
    ),
    "kernel": "vision_model.embeddings.patch_embedding.weight",
    "class_token": "vision_model.embeddings.class_embedding",
    "norm_pre": "vision_model.pre_layrnorm",
    "embedding": "text_model.embeddings.token_embedding.weight",
    "block": ("layer_norm1", "layer_norm2", ("mlp.fc1", "mlp.fc2"), "self_attn.out_proj"),
}


def _openai_qkv(ours, theirs, heads):
    return [
        entry(f"{ours}/kernel", torch_fused(3, heads), f"{theirs}.attn.in_proj_weight"),
        entry(f"{ours}/bias", torch_fused_bias(3, heads), f"{theirs}.attn.in_proj_bias"),
    ]


def _hf_qkv(ours, theirs, heads):
    parts = [f"{theirs}.self_attn.{part}_proj" for part in "qkv"]
    return [
        entry(f"{ours}/kernel", torch_split(3, heads), *[f"{part}.weight" for part in parts]),
        entry(f"{ours}/bias", torch_split_bias(3, heads), *[f"{part}.bias" for part in parts]),
    ]


def _entries(names, qkv, projection):
    def block(ours, theirs, heads):
        norm1, norm2, mlp, out = names["block"]
        return [
            *torch_norm(f"{ours}/norm1", f"{theirs}.{norm1}"),
            *qkv(f"{ours}/attention/qkv", theirs, heads),
            *torch_linear(f"{ours}/attention/out", f"{theirs}.{out}", MATRIX, SAME),
            *torch_norm(f"{ours}/norm2", f"{theirs}.{norm2}"),
            *torch_mlp(f"{ours}/mlp", theirs, mlp),
        ]

    def tower(config, ours, place, depth, heads):
        for index in range(depth):
            yield from block(f"{ours}/block_{index}", f"{names['blocks'][place]}.{index}", heads)
        yield from torch_norm(f"{ours}/norm", names["norm"][place])
        yield entry(f"{ours}/projection/kernel", projection, names["projection"][place])

    def entries(config):
        patches = torch_patches(config.patch_size)
        found = [
            entry("image/patch_encoder/projection/kernel", patches, names["kernel"]),
            entry("image/patch_encoder/class_token", CLASS_TOKEN, names["class_token"]),
            entry("image/patch_encoder/position", POSITIONS, names["position"][0]),
            *torch_norm("image/norm_pre", names["norm_pre"]),
            *tower(config, "image", 0, config.depth, config.num_heads),
            entry("text/token_encoder/embedding", SAME, names["embedding"]),
            entry("text/token_encoder/position", POSITIONS, names["position"][1]),
            *tower(config, "text", 1, config.text_depth, config.text_num_heads),
            entry("scale/logit_scale", NUMBER, "logit_scale"),
        ]
        if config.logit_bias is not None:
            found.append(entry("bias/logit_bias", NUMBER, "logit_bias"))
        return found

    return entries


def _facts(names):
    def facts(archive):
        shapes, blocks = archive.shapes, [f"{name}." for name in names["blocks"]]
        width, channels, *patch = shapes[names["kernel"]]
        vocabulary, text_width = shapes[names["embedding"]]
        mlps = [shapes[f"{block}0.{names['block'][2][0]}.weight"][0] for block in blocks]
        depths = [numbered(archive, re.escape(block) + r"(\d+)\.") for block in blocks]
        vectors = set(shapes[names["projection"][1]]) - {text_width} or {text_width}
        return {
            "width": width,
            "channels": channels,
            "patch_size": tuple(patch),
            "depth": depths[0],
            "mlp_dim": mlps[0],
            "text_width": text_width,
            "text_depth": depths[1],
            "text_mlp_dim": mlps[1],
            "embedding_dim": vectors.pop(),
            "vocabulary_size": vocabulary,
            "context_length": shapes[names["position"][1]][0],
            "logit_bias": -10.0 if "logit_bias" in archive else None,
            "class_token": True,
            "registers": 0,
            "position_rows": shapes[names["position"][0]][0],
        }

    return facts


def _openai_canonical(archive):
    # OpenCLIP's newer files may hold the text tower as a module of its own.
    archive = without_prefix(archive, "module.")
    return archive.renamed(lambda name: name.removeprefix("text."))


OPEN_CLIP = Table(_openai_canonical, _entries(OPENAI, _openai_qkv, SAME), _facts(OPENAI), UNUSED)
TRANSFORMERS = Table(lambda archive: archive, _entries(HF, _hf_qkv, MATRIX), _facts(HF), UNUSED)
