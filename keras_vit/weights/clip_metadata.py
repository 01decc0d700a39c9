"""What the files beside a CLIP's weights say: transformers' `config.json`, OpenCLIP's own."""

# Keys of OpenCLIP's towers that make another network, with the values that ours has.
OTHER_NETWORKS = {
    "timm_model_name": None,
    "hf_model_name": None,
    "ls_init_value": None,
    "attentional_pool": False,
    "no_ln_pre": False,
    "pos_embed_type": "learnable",
    "final_ln_after_pool": False,
    "act_kwargs": None,
    "norm_kwargs": None,
    "embed_cls": False,
    "no_causal_mask": False,
    "proj_bias": False,
}
# transformers' files from before 2023 state this whatever the end mark is.
FORMER_END = 2


def of_transformers(config):
    """Fields of `CLIPConfig` that a `config.json` of the type "clip" states.

    Raises:
        ValueError: if its towers differ where ours cannot.
    """
    image, text = (config.get(f"{tower}_config") or {} for tower in ("vision", "text"))
    for key in ("hidden_act", "layer_norm_eps"):
        if image.get(key) != text.get(key):
            raise ValueError(f"the towers differ in `{key}`, which ours have in common")
    end = text.get("eos_token_id")
    return {
        "activation": image.get("hidden_act"),
        "norm_epsilon": image.get("layer_norm_eps"),
        "image_size": image.get("image_size"),
        "num_heads": image.get("num_attention_heads"),
        "text_num_heads": text.get("num_attention_heads"),
        "end_token": None if end == FORMER_END else end,
    }


def of_open_clip(config):
    """Fields of `CLIPConfig` that an `open_clip_config.json` states.

    Raises:
        ValueError: if it makes another network than ours.
    """
    model, pictures = config["model_cfg"], config.get("preprocess_cfg") or {}
    image, text = model["vision_cfg"], model["text_cfg"]
    for key, ours in OTHER_NETWORKS.items():
        found = {tower.get(key, ours) for tower in (image, text) if not isinstance(tower, str)}
        if found != {ours}:
            raise ValueError(f"it states `{key}`, which makes another network than ours")
    resize = {"shortest": "crop", "squash": "squash"}.get(pictures.get("resize_mode"))
    preprocessing = {
        "mean": pictures.get("mean"),
        "std": pictures.get("std"),
        "interpolation": pictures.get("interpolation"),
        "resize": resize,
    }
    return {
        "activation": "quick_gelu" if model.get("quick_gelu") else "gelu",
        "image_size": image.get("image_size"),
        "num_heads": image["width"] // image.get("head_width", 64),
        "text_num_heads": text.get("heads"),
        "preprocessing": {key: value for key, value in preprocessing.items() if value is not None},
    }
