"""The names of TimeSformer: the authors', and transformers', which are read and written."""

import re

from keras_vit.weights.layouts import MATRIX, SAME, torch_fused, torch_fused_bias
from keras_vit.weights.tables import vit_timm
from keras_vit.weights.tables.table import Table, entry, torch_linear, torch_norm, without_prefix

# transformers' names, in words of the authors', who use timm's.
WORDS = (
    (r"embeddings\.patch_embeddings\.projection", "patch_embed.proj"),
    (r"embeddings\.cls_token", "cls_token"),
    (r"embeddings\.position_embeddings", "pos_embed"),
    (r"embeddings\.time_embeddings", "time_embed"),
    (r"encoder\.layer\.(\d+)\.temporal_layernorm", r"blocks.\1.temporal_norm1"),
    (r"encoder\.layer\.(\d+)\.temporal_attention\.attention\.qkv", r"blocks.\1.temporal_attn.qkv"),
    (r"encoder\.layer\.(\d+)\.temporal_attention\.output\.dense", r"blocks.\1.temporal_attn.proj"),
    (r"encoder\.layer\.(\d+)\.temporal_dense", r"blocks.\1.temporal_fc"),
    (r"encoder\.layer\.(\d+)\.layernorm_before", r"blocks.\1.norm1"),
    (r"encoder\.layer\.(\d+)\.attention\.attention\.qkv", r"blocks.\1.attn.qkv"),
    (r"encoder\.layer\.(\d+)\.attention\.output\.dense", r"blocks.\1.attn.proj"),
    (r"encoder\.layer\.(\d+)\.layernorm_after", r"blocks.\1.norm2"),
    (r"encoder\.layer\.(\d+)\.intermediate\.dense", r"blocks.\1.mlp.fc1"),
    (r"encoder\.layer\.(\d+)\.output\.dense", r"blocks.\1.mlp.fc2"),
    (r"layernorm", "norm"),
    (r"classifier", "head"),
)
TIME = "patch_encoder/time"


def canonical(archive):
    """Names as the authors spell them."""
    # Their files hold the module as `model`, that of a run on several devices as `module.model`.
    archive = without_prefix(archive, "timesformer.", "model.", "module.model.")
    return archive.renamed(_respelled)


def _respelled(name):
    for pattern, spelling in WORDS:
        # The backbone alone in a file of transformers has no prefix, its head always one.
        renamed = re.sub(rf"^{pattern}(?=$|\.(weight|bias)$)", spelling, name)
        if renamed != name:
            return renamed
    return name


def entries(config):
    """The entries of a TimeSformer."""
    found = vit_timm.entries(config)
    if config.space_time != "space_only":
        found.append(entry(TIME, SAME, "time_embed"))
    if config.space_time == "divided":
        for index in range(config.depth):
            found += _over_time(f"block_{index}/temporal", f"blocks.{index}", config.num_heads)
    return found


def _over_time(ours, theirs, heads):
    qkv, qkv_bias = torch_fused(3, heads), torch_fused_bias(3, heads)
    return [
        *torch_norm(f"{ours}_norm", f"{theirs}.temporal_norm1"),
        *torch_linear(f"{ours}_attention/qkv", f"{theirs}.temporal_attn.qkv", qkv, qkv_bias),
        *torch_linear(f"{ours}_attention/out", f"{theirs}.temporal_attn.proj", MATRIX, SAME),
        *torch_linear(f"{ours}_projection", f"{theirs}.temporal_fc", MATRIX, SAME),
    ]


def facts(archive):
    """What the shapes say of the architecture."""
    divided = "blocks.0.temporal_fc.weight" in archive
    joint = "divided" if divided else "joint"
    found = {
        **vit_timm.facts(archive),
        "space_time": joint if "time_embed" in archive else "space_only",
    }
    if "time_embed" in archive:  # of frames each by itself, there may be any number
        found["frames"] = archive.shapes["time_embed"][1]
    return found


def written(config, name):
    """A name as transformers spells it."""
    for pattern, spelling in WORDS:
        ours = spelling.replace(r"\1", r"(\d+)")
        theirs = pattern.replace(r"(\d+)", r"\1").replace("\\.", ".")
        renamed = re.sub(rf"^{ours}(?=$|\.(weight|bias)$)", theirs, name)
        if renamed != name:
            alone = theirs == "classifier" or not config.num_classes
            return renamed if alone else f"timesformer.{renamed}"
    return name


TABLE = Table(canonical, entries, facts, vit_timm.UNUSED, written)
