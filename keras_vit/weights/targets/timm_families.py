"""timm's Swin, CoAtNet and hybrids."""

from keras_vit.layers.windows import fitted_window, padding
from keras_vit.models import CoAtNet, Hybrid, Swin
from keras_vit.models.coatnet import ATTENTION, CONV
from keras_vit.weights.targets import timm
from keras_vit.weights.targets.target import Target, in_the_way

# Units of the ResNet -> timm's hybrid that has them; the rest is stated.
HYBRIDS = {
    (): "vit_tiny_r_s16_p8_224",
    (2, 2, 2, 2): "vit_small_r26_s32_224",
    (3, 4, 9): "vit_base_r50_s16_224",
    (3, 4, 6, 3): "vit_large_r50_s32_224",
}
KINDS = {CONV: "C", ATTENTION: "T"}


def swin(model):
    """The target for a Swin."""
    config = model.config
    arguments = {
        "patch_size": list(config.patch_size),
        "embed_dim": config.width,
        "depths": list(config.depths),
        "num_heads": list(config.num_heads),
        "window_size": list(config.window_size),
        "mlp_ratio": config.mlp_ratio,
        "strict_img_size": False,
    }
    return Target(
        source="timm_swin",
        in_the_way=in_the_way(
            activation=config.activation != "gelu" and "timm's config cannot state it: gelu",
            norm_epsilon=config.norm_epsilon != 1e-5 and "timm's config cannot state it: 1e-5",
            representation_size=config.representation_size and "timm has no such layer",
            image_size=_padded_and_shifted(config)
            and "timm shifts a map before it pads it to whole windows, the authors pad it first",
        ),
        positions=False,
        position_rows=0,
        files=_files("swin_tiny_patch4_window7_224", arguments, config.widths[-1]),
    )


def _padded_and_shifted(config):
    for depth, grid in zip(config.depths, config.grids, strict=True):
        window, shift = fitted_window(grid, config.window_size, depth > 1)
        if any(shift) and any(padding(grid, window)):
            return True
    return False


def coatnet(model):
    """The target for a CoAtNet."""
    config = model.config
    kinds, widths, depths, halves = zip(*config.stages, strict=True)
    options = {
        "norm_eps": (config.batch_norm_epsilon, config.norm_epsilon),
        "act_layer": (config.activation,) * 2,
        "expand_ratio": (config.expansion,) * 2,
        "pool_type": ({"average": "avg2", "max": "max2"}[config.pool],) * 2,
    }
    arguments = {
        "embed_dim": list(widths),
        "depths": list(depths),
        "block_type": [KINDS[kind] for kind in kinds],
        "stem_width": config.stem_width,
        "head_hidden_size": config.representation_size,
        "transformer_dim_head": config.head_dim,
        "conv_stride_mode": {"depthwise": "dw", "expansion": "1x1"}[config.stride_in],
        "conv_attn_ratio": config.squeeze,
        **{f"conv_{name}": value for name, (value, _) in options.items()},
        **{f"transformer_{name}": value for name, (_, value) in options.items()},
    }
    hidden = config.pooling == "gap_then_norm"
    return Target(
        source="timm_coatnet",
        in_the_way=in_the_way(
            stages=not all(halves) and "in timm, every stage halves its map",
            pooling=hidden != bool(config.representation_size)
            and "timm norms after pooling if, and only if, there is a representation layer",
        ),
        positions=False,
        position_rows=0,
        files=_files("coatnet_0_224", arguments, widths[-1]),
    )


def hybrid(model):
    """The target for a hybrid."""
    config, plain = model.config, timm.target(model)

    def files(config):
        content = plain.files(config)["config.json"]
        arguments = {**content["model_args"], "patch_size": list(config.projection_size)}
        architecture = HYBRIDS[config.units]
        return {"config.json": {**content, "architecture": architecture, "model_args": arguments}}

    return Target(
        source="timm_hybrid",
        in_the_way={
            **plain.in_the_way,
            **in_the_way(
                units=config.units not in HYBRIDS and "timm has no such hybrid",
                root_width=config.root_width != 64 and "timm's hybrids have 64",
                group_norm_epsilon=config.group_norm_epsilon != 1e-5 and "timm's is 1e-5",
                standardisation=config.standardisation != "variance" and "timm's is by variance",
            ),
        },
        positions=plain.positions,
        position_rows=plain.position_rows,
        files=files,
    )


def _files(architecture, arguments, features):
    """The files beside the weights, as a function of the config."""

    def files(config):
        pretrained = {**timm.pretrained(config), "classifier": "head.fc"}
        return {
            "config.json": {
                "architecture": architecture,
                "num_classes": config.num_classes,
                "num_features": features,
                "global_pool": "avg",
                "model_args": {
                    "img_size": list(config.image_size),
                    "in_chans": config.channels,
                    **arguments,
                },
                "pretrained_cfg": pretrained,
                **timm.label_names(config),
            }
        }

    return files


TARGETS = {Swin: swin, CoAtNet: coatnet, Hybrid: hybrid}


def target(model):
    """The target for a model of any family that timm has."""
    return TARGETS.get(type(model), timm.target)(model)
