"""timm."""

from keras_vit.models import DeiT
from keras_vit.weights.targets.target import Target, class_rows, in_the_way

POOLINGS = {"token": "token", "gap": "avg", "gap_then_norm": "avg", "map": "map", "none": ""}


def target(model):
    """The target for a model."""
    config, distilled = model.config, isinstance(model, DeiT)
    swiglu = config.mlp == "swiglu"
    # timm's positions are for all prefix tokens or none: registers' rows are zero.
    rows = class_rows(config) and 1 + config.registers
    return Target(
        source="deit" if distilled else "timm",
        in_the_way=in_the_way(
            norm_epsilon=config.norm_epsilon != 1e-6 and "timm's config cannot state it: 1e-6",
            representation_size=config.representation_size and "timm has no such layer",
            pooling=config.pooling not in POOLINGS and "timm has no such pooling",
            activation=swiglu and config.activation != "silu" and "timm's SwiGLU uses silu",
        ),
        positions=config.position != "none",
        position_rows=2 if distilled else rows,
        files=lambda config: {
            "config.json": _distilled(_config(config)) if distilled else _config(config)
        },
    )


def pretrained(config):
    """What timm calls `pretrained_cfg`: the images, and where the classifier is."""
    preprocessing = config.preprocessing
    return {
        "num_classes": config.num_classes,
        "input_size": [config.channels, *config.image_size],
        "mean": list(preprocessing.mean),
        "std": list(preprocessing.std),
        "interpolation": preprocessing.interpolation,
        "crop_pct": preprocessing.crop,
        "crop_mode": "squash" if preprocessing.resize == "squash" else "center",
        "fixed_input_size": True,
        "first_conv": "patch_embed.proj",
        "classifier": "head",
    }


def label_names(config):
    """The names of the classes, where there are any."""
    names = list(config.preprocessing.class_names)
    return {"label_names": names} if names else {}


def _config(config):
    """`config.json` as timm's hub models have it."""
    return {
        # The one whose MLP is SwiGLU, and the plain one; every size is stated in model_args.
        "architecture": (
            "vit_giant_patch14_dinov2" if config.mlp == "swiglu" else "vit_base_patch16_224"
        ),
        "num_classes": config.num_classes,
        "num_features": config.width,
        "global_pool": POOLINGS[config.pooling],
        "model_args": _arguments(config),
        "pretrained_cfg": pretrained(config),
        **label_names(config),
    }


def _distilled(content):
    """The same for timm's distilled DeiT, whose second token is no register there."""
    own = ("class_token", "reg_tokens", "no_embed_class", "fc_norm")
    arguments = {name: x for name, x in content["model_args"].items() if name not in own}
    images = {**content["pretrained_cfg"], "classifier": ["head", "head_dist"]}
    return {
        **content,
        "architecture": "deit_base_distilled_patch16_224",
        "model_args": arguments,
        "pretrained_cfg": images,
    }


def _arguments(config):
    """The arguments of timm's VisionTransformer."""
    # timm truncates width * ratio: half a unit more keeps rounding from losing one.
    hidden = config.mlp_dim * (2 if config.mlp == "swiglu" else 1) + 0.5
    plain = {"act_layer": config.activation} if config.mlp != "swiglu" else {}
    return {
        "img_size": list(config.image_size),
        "patch_size": list(config.patch_size),
        "in_chans": config.channels,
        "embed_dim": config.width,
        "depth": config.depth,
        "num_heads": config.num_heads,
        "mlp_ratio": hidden / config.width,
        "class_token": config.class_token,
        "reg_tokens": config.registers,
        "no_embed_class": not class_rows(config),
        "pos_embed": "none" if config.position == "none" else "learn",
        "global_pool": POOLINGS[config.pooling],
        "fc_norm": config.pooling == "gap_then_norm",
        "init_values": config.layer_scale,
        **plain,
    }
