"""Micro-checkpoints as transformers, timm and the research codes write them, a fixture each.

Plain data without imports: `weights_reference.py` makes the fixtures from it in the reference
environment, and `tests/weights/test_reference_files.py` loads them in ours.

A case names what makes the model (`package`, `class`, `arguments`), how its file is written
(`file`), and the `format` we read it as (None: the file's config.json tells). `sizes` are image
sizes beside the model's own, at which the reference resizes its positions itself.
"""

NATIVE, LARGER, RECTANGLE = (20, 20), (28, 28), (12, 36)
CLASSES = 7

HF = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "image_size": 20,
    "patch_size": 4,
    "num_labels": CLASSES,
}
HF_VIT = {**HF, "intermediate_size": 43}
HF_DINOV2 = {**HF, "mlp_ratio": 2, "layerscale_value": 0.3}
TIMM = {
    "img_size": 20,
    "patch_size": 4,
    "embed_dim": 24,
    "depth": 2,
    "num_heads": 3,
    "mlp_ratio": 2.0,
    "num_classes": CLASSES,
}
ALL_SIZES = (LARGER, RECTANGLE)


def _hf(class_name, arguments, model, **more):
    return {
        "package": "transformers",
        "class": class_name,
        "arguments": arguments,
        "file": "folder",
        "format": None,
        "model": model,
        "sizes": ALL_SIZES,
        **more,
    }


def _timm(arguments, format="timm", **more):
    return {
        "package": "timm",
        "class": "VisionTransformer",
        "arguments": {**TIMM, **arguments},
        "file": "safetensors",
        "format": format,
        "model": "ViT",
        "sizes": ALL_SIZES,
        **more,
    }


CASES = {
    "hf_vit": _hf("ViTForImageClassification", HF_VIT, "ViT"),
    "hf_vit_gelu_new": _hf(
        "ViTForImageClassification",
        {**HF_VIT, "hidden_act": "gelu_new", "layer_norm_eps": 1e-6},
        "ViT",
        sizes=(),
    ),
    "hf_vit_backbone": _hf("ViTModel", HF_VIT, "ViT"),
    "hf_vit_shards": _hf("ViTForImageClassification", HF_VIT, "ViT", file="shards", sizes=()),
    "hf_vit_in_memory": _hf(
        "ViTForImageClassification", HF_VIT, "ViT", file="state", format="hf_vit", sizes=()
    ),
    "hf_deit": _hf("DeiTForImageClassification", HF_VIT, "ViT"),
    "hf_deit_distilled": _hf("DeiTForImageClassificationWithTeacher", HF_VIT, "DeiT"),
    "hf_dinov2": _hf("Dinov2ForImageClassification", HF_DINOV2, "ViT"),
    "hf_dinov2_backbone": _hf("Dinov2Model", HF_DINOV2, "ViT"),
    "hf_dinov2_in_memory": _hf(
        "Dinov2Model",
        {**HF_DINOV2, "use_swiglu_ffn": True},
        "ViT",
        file="state",
        format="hf_dinov2",
        sizes=(),
    ),
    "hf_dinov2_swiglu": _hf("Dinov2Model", {**HF_DINOV2, "use_swiglu_ffn": True}, "ViT", sizes=()),
    "hf_dinov2_registers": _hf(
        "Dinov2WithRegistersForImageClassification", {**HF_DINOV2, "num_register_tokens": 3}, "ViT"
    ),
    "timm_token": _timm({}),
    "timm_gap": _timm({"global_pool": "avg"}),
    "timm_map": _timm({"global_pool": "map", "class_token": False}),
    "timm_registers": _timm({"reg_tokens": 3, "init_values": 0.3}),
    "timm_registers_no_position": _timm(
        {"reg_tokens": 3, "init_values": 0.3, "no_embed_class": True, "num_classes": 0},
        "dinov2_reg",
    ),
    "timm_swiglu": _timm({"mlp": "swiglu", "init_values": 0.3, "num_classes": 0}, sizes=()),
    # DeiT's own code resizes without antialias.
    "deit3_pth": _timm(
        {"no_embed_class": True, "init_values": 0.3}, "deit3", file="pth_gamma", antialias=False
    ),
    "deit_pth": _timm({}, "deit", file="pth", sizes=()),
    "deit_distilled_pth": _timm(
        {}, "deit", file="pth", sizes=(), **{"class": "VisionTransformerDistilled", "model": "DeiT"}
    ),
    "mae_pth": _timm({"num_classes": 0}, "mae", file="pth_mae", sizes=()),
}

SWIN = {
    "image_size": 20,
    "patch_size": 2,
    "embed_dim": 12,
    "depths": [2, 1],
    "num_heads": [2, 3],
    "window_size": 5,
    "mlp_ratio": 1.5,
    "num_labels": CLASSES,
}
# At the second size, windows do not fill the maps.
SWINS = {
    "hf_swin": _hf("SwinForImageClassification", SWIN, "Swin", sizes=((24, 36),)),
    "hf_swin_in_memory": _hf(
        "SwinForImageClassification", SWIN, "Swin", file="state", format="hf_swin", sizes=()
    ),
}
