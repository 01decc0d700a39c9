"""Hugging Face transformers: ViT, and DINOv2 where there is LayerScale."""

from keras_vit.models import CLIP, MAE, DeiT, Swin, TimeSformer
from keras_vit.weights.metadata import HF_ACTIVATIONS, PIL_FILTERS
from keras_vit.weights.targets import clip, mae
from keras_vit.weights.targets.hf_swin import swin
from keras_vit.weights.targets.target import Target, grid, in_the_way, square

ACTIVATIONS = {ours: theirs for theirs, ours in HF_ACTIVATIONS.items()}


def target(model):
    """The target for a model."""
    if isinstance(model, DeiT):
        return _deit(model.config)
    if isinstance(model, CLIP):
        return clip.transformers(model, _processor)
    if isinstance(model, Swin):
        return swin(model.config, ACTIVATIONS, _processor)
    if isinstance(model, MAE):
        return mae.transformers(model, _processor)
    if isinstance(model, TimeSformer):
        return _timesformer(model.config)
    return (_vit if model.config.layer_scale is None else _dinov2)(model.config)


def _deit(config):
    return Target(
        source="hf_deit",
        in_the_way=in_the_way(
            layer_scale=config.layer_scale is not None and "transformers' DeiT has no LayerScale",
            mlp=config.mlp != "mlp" and "transformers' DeiT has the plain MLP only",
            representation_size=config.representation_size and "transformers has no such layer",
        ),
        positions=True,
        position_rows=2,
        files=_files("deit", "DeiTForImageClassificationWithTeacher", None, _vit_config),
    )


def _vit(config):
    return Target(
        source="hf_vit",
        in_the_way=in_the_way(
            class_token=not config.class_token and "transformers' ViT always has one",
            registers=config.registers and "transformers' ViT has none",
            pooling=config.pooling != "token" and "transformers' ViT pools by the class token",
            mlp=config.mlp != "mlp" and "transformers' ViT has the plain MLP only",
            representation_size=config.representation_size
            and "transformers' classifier has no such layer",
        ),
        positions=True,
        position_rows=1,
        files=_files("vit", "ViTForImageClassification", "ViTModel", _vit_config),
    )


def _dinov2(config):
    head = config.num_classes and config.pooling != "token_and_mean"
    rows, columns = grid(config)
    kind, name = (
        ("dinov2_with_registers", "Dinov2WithRegisters")
        if config.registers
        else ("dinov2", "Dinov2")
    )
    return Target(
        source="hf_dinov2_reg" if config.registers else "hf_dinov2",
        in_the_way=in_the_way(
            class_token=not config.class_token and "transformers' DINOv2 always has one",
            pooling=head and "transformers' DINOv2 classifies class token and mean together",
            image_size=rows != columns and "transformers' DINOv2 keeps a square position table",
            representation_size=config.representation_size and "transformers has no such layer",
            mlp_dim=_ratio(config) is None and "transformers' DINOv2 wants a whole mlp_ratio",
        ),
        positions=True,
        position_rows=1,
        files=_files(kind, f"{name}ForImageClassification", f"{name}Model", _dinov2_config),
    )


def _timesformer(config):
    return Target(
        source="hf_timesformer",
        in_the_way=in_the_way(
            space_time=config.space_time == "space_only"
            and "transformers' takes no mean over time",
            pooling=config.pooling != "token" and "transformers' pools by the class token",
            class_position=not config.class_position and "transformers' class token has one",
            layer_scale=config.layer_scale is not None and "transformers' has no LayerScale",
            representation_size=config.representation_size and "transformers has no such layer",
        ),
        positions=True,
        position_rows=1,
        files=_files(
            "timesformer",
            "TimesformerForVideoClassification",
            "TimesformerModel",
            _timesformer_config,
        ),
    )


def _files(model_type, classifier, backbone, more):
    """The files beside the weights, as a function of the config."""

    def files(config):
        content = {
            "model_type": model_type,
            "architectures": [classifier if config.num_classes else backbone],
            "hidden_size": config.width,
            "num_hidden_layers": config.depth,
            "num_attention_heads": config.num_heads,
            "image_size": square(config.image_size),
            "patch_size": square(config.patch_size),
            "num_channels": config.channels,
            "hidden_act": ACTIVATIONS[config.activation],
            "layer_norm_eps": config.norm_epsilon,
            "qkv_bias": True,
            **more(config),
        }
        if config.num_classes:
            names = config.preprocessing.class_names or [
                f"LABEL_{index}" for index in range(config.num_classes)
            ]
            content["id2label"] = {str(index): name for index, name in enumerate(names)}
            content["label2id"] = {name: index for index, name in enumerate(names)}
        return {"config.json": content, "preprocessor_config.json": _processor(config)}

    return files


def _vit_config(config):
    return {"intermediate_size": config.mlp_dim}


def _timesformer_config(config):
    names = {"divided": "divided_space_time", "joint": "joint_space_time"}
    return {
        "intermediate_size": config.mlp_dim,
        "num_frames": config.frames,
        "attention_type": names.get(config.space_time, config.space_time),
    }


def _dinov2_config(config):
    more = {"num_register_tokens": config.registers} if config.registers else {}
    return {
        "mlp_ratio": _ratio(config),
        "use_swiglu_ffn": config.mlp == "swiglu",
        "layerscale_value": config.layer_scale,
        **more,
    }


def _ratio(config):
    """The whole ratio from which transformers computes this width of the MLP, or None."""
    for ratio in range(1, 17):
        hidden = config.width * ratio
        if config.mlp == "swiglu":  # two thirds, rounded up to a multiple of 8
            hidden = (hidden * 2 // 3 + 7) // 8 * 8
        if hidden == config.mlp_dim:
            return ratio
    return None


def _processor(config):
    """`preprocessor_config.json`: what transformers' image processors read."""
    preprocessing = config.preprocessing
    height, width = config.image_size
    filters = {name: number for number, name in PIL_FILTERS.items()}
    processor = {
        "do_resize": True,
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": list(preprocessing.mean),
        "image_std": list(preprocessing.std),
        "resample": filters[preprocessing.interpolation],
    }
    if preprocessing.resize == "squash":
        return processor | {
            "image_processor_type": "ViTImageProcessor",
            "size": {"height": height, "width": width},
        }
    return processor | {
        "image_processor_type": "BitImageProcessor",
        "size": {"shortest_edge": round(min(height, width) / preprocessing.crop)},
        "do_center_crop": True,
        "crop_size": {"height": height, "width": width},
    }
