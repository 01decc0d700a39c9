"""What files say of themselves: a `config.json` of transformers or timm, or our own note."""

import json
import re

from keras_vit.weights import clip_metadata
from keras_vit.weights.archives.damage import refused
from keras_vit.weights.sources import SOURCES

# transformers' model_type -> source.
MODEL_TYPES = {
    "clip": "hf_clip",
    "vit": "hf_vit",
    "deit": "hf_deit",
    "dinov2": "hf_dinov2",
    "dinov2_with_registers": "hf_dinov2_reg",
    "swin": "hf_swin",
    "timesformer": "hf_timesformer",
    "vit_mae": "hf_mae",
}
HF_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "relu": "relu",
    "silu": "silu",
}
TIMM_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_tanh": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "relu": "relu",
    "silu": "silu",
}
# timm architectures whose class is the plain VisionTransformer with its defaults. Others use
# other norms or activations (CLIP, SigLIP), which their config.json does not tell.
TIMM_PLAIN = re.compile(
    r"(deit3?|vit)_(tiny|small|medium|base|large|huge|giant|gigantic)_patch\d+"
    r"(_reg\d+)?(_dinov2|_gap)?(_\d+)?"
)
# The families beside the ViT.
TIMM_FAMILIES = {
    r"swin_(tiny|small|base|large)_patch\d+_window\d+_\d+": "timm_swin",
    r"coatnet_[0-5]_\d+": "timm_coatnet",
    r"vit_(tiny_r_s16_p8|small_r26_s32|base_r26_s32|base_r50_s16|large_r50_s32)_\d+": "timm_hybrid",
}
# Their heads, which no array tells.
TIMM_HEADS = {
    "tiny": 3,
    "small": 6,
    "medium": 8,
    "base": 12,
    "large": 16,
    "huge": 16,
    "giant": 16,
    "gigantic": 16,
}
TIMM_OTHER_HEADS = {
    "vit_base_patch16_gap_224": 16,
    "vit_giant_patch14_dinov2": 24,
    "vit_giant_patch14_reg4_dinov2": 24,
}
# Arguments that change what timm computes and leave no trace in the arrays.
TIMM_UNREAD = ("norm_layer", "block_fn", "attn_layer", "embed_layer", "pool_include_prefix")
TIMM_POOLINGS = {"token": "token", "avg": "gap", "map": "map", "": "none"}
TIMM_CROP_MODES = {"center": "crop", "squash": "squash"}
# PIL's numbers of the resampling filters.
PIL_FILTERS = {0: "nearest", 2: "bilinear", 3: "bicubic"}
NOTE = "keras_vit"


def source_of(metadata):
    """The name of the source that the metadata tell, or None.

    Raises:
        ValueError: if our own note in them is damaged.
    """
    if NOTE in metadata:
        return _note(metadata)["source"]
    if "model_type" in metadata:
        return MODEL_TYPES.get(str(metadata["model_type"]))
    if "model_cfg" in metadata:
        return "open_clip"
    architecture = str(metadata.get("architecture"))
    if TIMM_PLAIN.fullmatch(architecture):
        return "timm"
    families = (name for kind, name in TIMM_FAMILIES.items() if re.fullmatch(kind, architecture))
    return next(families, None)


def unknown_kind(metadata):
    """What the metadata say they are, if that is nothing we know; else None."""
    kind = metadata.get("model_type") or metadata.get("architecture")
    return kind if kind and source_of(metadata) is None else None


def fields_of(metadata):
    """Config fields that the metadata state: whatever of them they hold.

    Raises:
        ValueError: if they state something that our models do not do, or make no sense.
    """
    if NOTE in metadata:
        return _note(metadata)["fields"]
    with refused("config.json"):
        if "model_cfg" in metadata:
            fields = clip_metadata.of_open_clip(metadata)
        elif "model_type" in metadata:
            fields = _of_transformers(metadata)
        else:
            fields = _of_timm(metadata) if "architecture" in metadata else {}
    with refused("preprocessor_config.json"):
        processor = _of_processor(metadata.get("preprocessor", {}))
    return _stated({**fields, **({"preprocessing": processor} if processor else {})})


def _note(metadata):
    with refused(f"The file's note `{NOTE}` is damaged, or of a later version"):
        note = json.loads(metadata[NOTE])
        if note["source"] not in SOURCES or not isinstance(note["fields"], dict):
            raise ValueError(f"its source is {note['source']!r}")
        return note


def _of_transformers(config):
    if config["model_type"] == "clip":
        fields = clip_metadata.of_transformers(config)
        activation = _translated(HF_ACTIVATIONS, "hidden_act", fields["activation"])
        return {**fields, "activation": activation}
    if config.get("qkv_bias") is False:
        raise ValueError("`qkv_bias` is false, but our attention always has biases")
    if config["model_type"] == "swin" and config.get("layer_norm_eps", 1e-5) != 1e-5:
        raise ValueError("`layer_norm_eps` is not 1e-5, that of transformers' other Swin norms")
    if config.get("use_absolute_embeddings"):
        raise ValueError("`use_absolute_embeddings` is true, but our Swin has no such table")
    return {
        "norm_epsilon": config.get("layer_norm_eps"),
        "image_size": config.get("image_size"),
        "num_heads": config.get("num_attention_heads"),
        "decoder_num_heads": config.get("decoder_num_attention_heads"),
        "mask_ratio": config.get("mask_ratio"),
        "activation": _translated(HF_ACTIVATIONS, "hidden_act", config.get("hidden_act")),
    }


def _of_processor(processor):
    """`preprocessor_config.json` as fields of `Preprocessing`."""
    # The first files state no factor: it is 1 / 255.
    factor = processor.get("rescale_factor", 1 / 255)
    if processor.get("do_rescale") is False or abs(factor * 255 - 1) > 1e-3:
        raise ValueError("pixels are not scaled by 1 / 255, as ours always are")
    fields = {
        "mean": processor.get("image_mean"),
        "std": processor.get("image_std"),
        "interpolation": _translated(PIL_FILTERS, "resample", processor.get("resample")),
        **_of_sizes(processor),
    }
    if processor.get("do_normalize") is False:
        fields |= {"mean": (0.0, 0.0, 0.0), "std": (1.0, 1.0, 1.0)}
    return _stated(fields)


def _of_sizes(processor):
    """How a processor resizes and cuts. Its sizes are a number, a short side, or two sides."""
    size, crop = processor.get("size"), processor.get("crop_size")
    if size is None or processor.get("do_resize") is False:
        return {}
    if crop is not None and processor.get("do_center_crop", True):
        # DeiT's processor squashes to 256 x 256 before it cuts 224 out of the middle. The
        # original keeps the aspect ratio, which is the same for square pictures.
        return {"resize": "crop", "crop": min(1.0, _side(crop) / _side(size))}
    keeps_ratio = isinstance(size, dict) and "shortest_edge" in size
    return {"resize": "crop" if keeps_ratio else "squash", "crop": 1.0}


def _side(size):
    if isinstance(size, dict):
        return size.get("shortest_edge") or min(size["height"], size["width"])
    return size


def _of_timm(config):
    # Before 2023, timm wrote what is in `pretrained_cfg` now at the top.
    pretrained = config.get("pretrained_cfg") or config
    arguments = config.get("model_args") or {}
    unread = sorted(set(TIMM_UNREAD) & set(arguments))
    if unread:
        raise ValueError(f"model_args state `{unread[0]}`, which we have no way of following")
    pooling = arguments.get("global_pool", config.get("global_pool"))
    return {
        "image_size": arguments.get("img_size") or (pretrained.get("input_size") or [None])[1:],
        "num_heads": arguments.get("num_heads", _timm_heads(str(config["architecture"]))),
        "pooling": _translated(TIMM_POOLINGS, "global_pool", pooling),
        "activation": _translated(TIMM_ACTIVATIONS, "act_layer", arguments.get("act_layer")),
        "preprocessing": _of_pretrained(pretrained),
    }


def _timm_heads(architecture):
    if source_of({"architecture": architecture}) not in ("timm", "timm_hybrid"):
        return None
    size = next(heads for size, heads in TIMM_HEADS.items() if f"_{size}_" in architecture)
    return TIMM_OTHER_HEADS.get(architecture, size)


def _of_pretrained(pretrained):
    """timm's `pretrained_cfg` as fields of `Preprocessing`."""
    crop, mode = pretrained.get("crop_pct"), pretrained.get("crop_mode")
    if mode == "squash" and crop not in (None, 1):
        raise ValueError(f"`crop_pct` {crop} with the `crop_mode` squash is not known to us")
    if mode is None and crop is not None:
        mode = "center"  # timm's default
    filters = {name: name for name in PIL_FILTERS.values()}
    return _stated(
        {
            "mean": pretrained.get("mean"),
            "std": pretrained.get("std"),
            "interpolation": _translated(filters, "interpolation", pretrained.get("interpolation")),
            "crop": crop,
            "resize": _translated(TIMM_CROP_MODES, "crop_mode", mode),
        }
    )


def _translated(words, key, value):
    """Our word for a value, None for None."""
    if value is None:
        return None
    if value not in words:
        raise ValueError(f"`{key}` is {value!r}; known are {', '.join(map(str, words))}")
    return words[value]


def _stated(fields):
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}
