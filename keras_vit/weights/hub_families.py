"""KerasHub's architectures: what their arguments and our config's fields say of each other."""

import dataclasses
from collections.abc import Callable

from keras_vit.models import DINOv2, ViT
from keras_vit.weights.tables import keras_hub as tables
from keras_vit.weights.tables.table import Table
from keras_vit.weights.targets.target import in_the_way

DINOV2_EPSILON = 1e-6  # KerasHub's DINOv2 has no argument for it
OTHER_PLACES = "KerasHub's model drops at other places than ours"


@dataclasses.dataclass(frozen=True)
class Family:
    """One architecture of KerasHub.

    Args:
        backbone, classifier: its classes in `keras_hub.models`; the classifier's may be None.
        model_class: ours.
        table: its variables, and ours beside them.
        source: key of `SOURCES`: the code its published weights come from, which says what
            KerasHub leaves open.
        position_rows: config -> rows of its position table before the patches.
        fields: backbone -> fields of our config, all but pooling, head and preprocessing.
        lost_from: backbone -> its argument -> why our models cannot compute it.
        arguments: config -> the backbone's arguments.
        lost_to: config -> its field -> why KerasHub's cannot compute it.
    """

    backbone: str
    classifier: str | None
    model_class: type
    table: Table
    source: str
    position_rows: Callable
    fields: Callable
    lost_from: Callable
    arguments: Callable
    lost_to: Callable


def _vit_fields(backbone):
    return {
        **_shared_fields(backbone),
        "mlp_dim": backbone.mlp_dim,
        "norm_epsilon": backbone.layer_norm_epsilon,
        "class_token": backbone.use_class_token,
        "dropout": backbone.dropout_rate,
        "attention_dropout": backbone.attention_dropout,
    }


def _vit_lost_from(backbone):
    return in_the_way(
        use_mha_bias=not backbone.use_mha_bias and "our attention always has biases",
        use_mlp_bias=not backbone.use_mlp_bias and "our MLP always has biases",
        use_patch_bias=not backbone.use_patch_bias and "our patch projection always has a bias",
        data_format=_first(backbone.data_format),
    )


def _vit_arguments(config):
    return {
        **_shared_arguments(config),
        "patch_size": config.patch_size,
        "mlp_dim": config.mlp_dim,
        "layer_norm_epsilon": config.norm_epsilon,
        "use_class_token": config.class_token,
        "dropout_rate": config.dropout,
        "attention_dropout": config.attention_dropout,
    }


def _vit_lost_to(config):
    return {
        **_plain_lost_to(config),
        **in_the_way(
            pooling=config.num_classes
            and config.pooling != ("token" if config.class_token else "gap")
            and "KerasHub's ViT pools by the class token, or averages all tokens",
        ),
    }


def _deit_fields(backbone):
    return {
        **_shared_fields(backbone),
        "mlp_dim": backbone.intermediate_dim,
        "norm_epsilon": backbone.layer_norm_epsilon,
        "registers": 1,
        "attention_dropout": backbone.attention_dropout,
    }


def _deit_lost_from(backbone):
    return in_the_way(
        use_mha_bias=not backbone.use_mha_bias and "our attention always has biases",
        dropout_rate=backbone.dropout_rate and OTHER_PLACES,
        data_format=_first(backbone.data_format),
    )


def _deit_arguments(config):
    return {
        **_shared_arguments(config),
        "patch_size": config.patch_size,
        "intermediate_dim": config.mlp_dim,
        "layer_norm_epsilon": config.norm_epsilon,
        "attention_dropout": config.attention_dropout,
    }


def _deit_lost_to(config):
    return {
        **_plain_lost_to(config),
        **in_the_way(
            registers=config.registers > 1 and "KerasHub's DeiT has one, the distillation token",
            class_token=not config.class_token and "KerasHub's DeiT always has one",
            pooling=config.num_classes
            and config.pooling != "token"
            and "KerasHub's DeiT pools by the class token",
            representation_size=config.representation_size and "KerasHub's DeiT has no such layer",
            dropout=config.dropout and OTHER_PLACES,
        ),
    }


def _plain_lost_to(config):
    return in_the_way(
        mlp=config.mlp != "mlp" and "KerasHub's ViT and DeiT have the plain MLP only",
        activation=config.activation != "gelu" and "KerasHub uses the exact GELU",
        drop_path=config.drop_path and "KerasHub's ViT and DeiT have no stochastic depth",
    )


def _dinov2_fields(backbone):
    kind = "swiglu" if backbone.use_swiglu_ffn else "mlp"
    return {
        **_shared_fields(backbone),
        "patch_size": (backbone.patch_size,) * 2,
        "mlp_dim": _swiglu_width(backbone.intermediate_dim)
        if backbone.use_swiglu_ffn
        else backbone.intermediate_dim,
        "mlp": kind,
        "activation": DINOV2_ACTIVATIONS[kind],
        "norm_epsilon": DINOV2_EPSILON,
        "registers": backbone.num_register_tokens,
        "layer_scale": backbone.layer_scale_init_value,
    }


def _dinov2_lost_from(backbone):
    return in_the_way(
        dropout_rate=backbone.dropout_rate and OTHER_PLACES,
        drop_path_rate=backbone.drop_path_rate and "in our models the rate rises from 0",
        data_format=_first(backbone.embeddings.data_format),
    )


def _dinov2_arguments(config):
    swiglu = config.mlp == "swiglu"
    shared = _shared_arguments(config)
    return {
        **shared,
        "patch_size": config.patch_size[0],
        "intermediate_dim": config.mlp_dim * 3 // 2 if swiglu else config.mlp_dim,
        "layer_scale_init_value": config.layer_scale,
        "num_register_tokens": config.registers,
        "use_mask_token": False,
        "use_swiglu_ffn": swiglu,
        "position_embedding_shape": shared["image_shape"],
    }


def _dinov2_lost_to(config):
    height, width = config.image_size
    p, q = config.patch_size
    return in_the_way(
        num_classes=config.num_classes and "KerasHub's DINOv2 is a backbone only",
        representation_size=config.representation_size and "KerasHub's DINOv2 has no such layer",
        image_size=height != width and "KerasHub's DINOv2 takes square images only",
        patch_size=p != q and "KerasHub's DINOv2 has square patches only",
        class_token=not config.class_token and "KerasHub's DINOv2 always has one",
        norm_epsilon=config.norm_epsilon != DINOV2_EPSILON and "KerasHub's DINOv2 uses 1e-6",
        activation=config.activation != DINOV2_ACTIVATIONS[config.mlp]
        and f"KerasHub's DINOv2 uses {DINOV2_ACTIVATIONS[config.mlp]}",
        mlp_dim=config.mlp == "swiglu"
        and config.mlp_dim % 8
        and "KerasHub rounds SwiGLU's width up to a multiple of 8",
        dropout=config.dropout and OTHER_PLACES,
        attention_dropout=config.attention_dropout and OTHER_PLACES,
        drop_path=config.drop_path and "KerasHub's DINOv2 has one rate for all blocks",
    )


def _swiglu_width(intermediate_dim):
    """KerasHub's own sum: two thirds, rounded up to a multiple of 8."""
    return (int(intermediate_dim * 2 / 3) + 7) // 8 * 8


def _shared_fields(backbone):
    *size, channels = backbone.image_shape
    return {
        "image_size": tuple(size),
        "channels": channels,
        "patch_size": backbone.patch_size,
        "width": backbone.hidden_dim,
        "depth": backbone.num_layers,
        "num_heads": backbone.num_heads,
        "activation": "gelu",
    }


def _shared_arguments(config):
    return {
        "image_shape": (*config.image_size, config.channels),
        "hidden_dim": config.width,
        "num_layers": config.depth,
        "num_heads": config.num_heads,
    }


def _first(data_format):
    return data_format != "channels_last" and "our models take images with the channels last"


DINOV2_ACTIVATIONS = {"mlp": "gelu", "swiglu": "silu"}
FAMILIES = {
    "vit": Family(
        "ViTBackbone",
        "ViTImageClassifier",
        ViT,
        tables.VIT,
        "hf_vit",
        lambda config: int(config.class_token),
        _vit_fields,
        _vit_lost_from,
        _vit_arguments,
        _vit_lost_to,
    ),
    "deit": Family(
        "DeiTBackbone",
        "DeiTImageClassifier",
        ViT,
        tables.DEIT,
        "hf_deit",
        lambda config: 2,
        _deit_fields,
        _deit_lost_from,
        _deit_arguments,
        _deit_lost_to,
    ),
    "dinov2": Family(
        "DINOV2Backbone",
        None,
        DINOv2,
        tables.DINOV2,
        "hf_dinov2",
        lambda config: 1,
        _dinov2_fields,
        _dinov2_lost_from,
        _dinov2_arguments,
        _dinov2_lost_to,
    ),
}


def family_for(config):
    """The architecture of KerasHub that a model of ours can be: by LayerScale and registers."""
    if config.layer_scale is not None:
        return FAMILIES["dinov2"]
    return FAMILIES["deit" if config.registers else "vit"]
