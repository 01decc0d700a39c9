"""Every public layer and model in a small size: the list that the contract goes through.

Sizes are distinct primes where divisibility allows: a 6 x 15 image of 5 channels in 2 x 3 patches
gives 3 x 5 tokens; the width 14 is 2 heads of 7.
"""

import dataclasses
from collections.abc import Callable

import keras

from keras_vit import layers
from keras_vit.models import (
    CLIP,
    MAE,
    CLIPConfig,
    CoAtNet,
    CoAtNetConfig,
    DeiT,
    DINOv2,
    DynamicViT,
    DynamicViTConfig,
    DynamicViTTrainer,
    Hybrid,
    HybridConfig,
    ImageTower,
    MAEConfig,
    Swin,
    SwinConfig,
    TextTower,
    TimeSformer,
    TimeSformerConfig,
    ViT,
    ViTConfig,
)
from tests.contract import BACKEND
from tests.contract.backends import DEPTH

IMAGE, GRID, PATCH = (6, 15, 5), (3, 5), (2, 3)
PATCHES, TOKENS = (15, 30), (17, 14)
SMALL = {
    "image_size": IMAGE[:2],
    "patch_size": PATCH,
    "channels": IMAGE[2],
    "width": 14,
    "depth": 1,
    "num_heads": 2,
    "mlp_dim": 11,
    "num_classes": 7,
}


# A map of 5 x 7 in windows of 2 x 3 is padded on both sides.
MAP, WINDOWS = (5, 7, 14), {"size": (5, 7), "window": (2, 3), "shift": True}
SWIN = {
    "image_size": (13, 22),
    "patch_size": (2, 3),
    "channels": 5,
    "width": 6,
    "depths": (2, 1),
    "num_heads": (2, 3),
    "window_size": (2, 3),
    "mlp_ratio": 1.5,
    "num_classes": 7,
}
COATNET = {
    "image_size": (16, 24),
    "channels": 5,
    "stem_width": 6,
    "head_dim": 7,
    "stages": (("conv", 10, 2, True), ("attention", 14, 2, True)),
    "num_classes": 7,
}
CLIPS = {
    **{name: value for name, value in SMALL.items() if name != "num_classes"},
    "text_width": 6,
    "text_depth": 1,
    "text_num_heads": 3,
    "text_mlp_dim": 13,
    "embedding_dim": 4,
    "vocabulary_size": 5,
    "context_length": 3,
}
HYBRID = {
    **{name: value for name, value in SMALL.items() if name not in ("image_size", "patch_size")},
    "image_size": (8, 12),
    "patch_size": 4,
    "units": (1,),
    "root_width": 32,
}


# 3 frames of 2 x 1 patches.
TIMESFORMER = {**SMALL, "image_size": (4, 3), "frames": 3, "drop_path": 0.3}
# Scored tokens are of a width with quarters. 14 of 15 are kept: in half precision the last of the
# scores is the same, but hardly one in the middle.
DYNAMIC = {**SMALL, "width": 12, "stage_blocks": (0,), "keep_ratios": 0.95}


MASKED = {
    **{name: value for name, value in SMALL.items() if name not in ("num_classes", "width")},
    "width": 12,
    "decoder_width": 8,
    "decoder_depth": 1,
    "decoder_num_heads": 2,
    "decoder_mlp_dim": 13,
    "mask_ratio": 0.6,
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A layer or model to check.

    Args:
        make: `make(dtype)` gives the layer or model, with new weights.
        shapes: the shape of each input, without the batch.
        half: whether its outputs are half precision under a mixed policy; logits are not.
        integers: places of the inputs that are integers, from 0 to 4.
    """

    make: Callable
    shapes: tuple
    half: bool = True
    integers: tuple = ()

    def model(self, dtype="float32"):
        """The case as a Keras model: itself, or a functional model of the one layer."""
        made = self.make(dtype)
        return made if isinstance(made, keras.Model) else self.as_model(made)

    def as_model(self, layer):
        """A functional model of one layer."""
        inputs = [
            keras.Input(shape, dtype="int32" if place in self.integers else layer.variable_dtype)
            for place, shape in enumerate(self.shapes)
        ]
        return keras.Model(inputs if len(inputs) > 1 else inputs[0], layer(*inputs))


def layer(kind, *arguments, shapes=(TOKENS,), integers=(), half=True, **options):
    make = lambda dtype: kind(*arguments, **options, name="part", dtype=dtype)  # noqa: E731
    return Case(make, shapes, half, integers)


def family(kind, config_class, fields, **more):
    config = config_class(**fields, **more)
    return Case(
        lambda dtype: kind(config, dtype=dtype), (*config.image_size, config.channels), half=False
    )


def timesformer(**fields):
    config = TimeSformerConfig(**{**TIMESFORMER, **fields})
    shape = (config.frames, *config.image_size, config.channels)
    return Case(lambda dtype: TimeSformer(config, dtype=dtype), (shape,), half=False)


def vit(half=False, kind=ViT, **fields):
    config = ViTConfig(**{**SMALL, **fields})
    return Case(lambda dtype: kind(config, dtype=dtype), (IMAGE,), half)


def clip(kind, *shapes, **fields):
    config = CLIPConfig(**{**CLIPS, **fields})
    return Case(lambda dtype: kind(config, dtype=dtype), shapes, half=False)


CASES = {
    "patches": layer(layers.Patches, PATCH, shapes=(IMAGE,)),
    "patch_encoder": layer(layers.PatchEncoder, 14, GRID, shapes=(PATCHES,)),
    "patch_encoder_registers": layer(
        layers.PatchEncoder, 14, GRID, registers=2, class_position=False, shapes=(PATCHES,)
    ),
    "patch_encoder_sincos": layer(
        layers.PatchEncoder, 12, GRID, position="sincos2d", class_token=False, shapes=(PATCHES,)
    ),
    "layer_norm": layer(layers.LayerNorm, 1e-5),
    "layer_scale": layer(layers.LayerScale, 0.1),
    "drop_path": layer(layers.DropPath, 0.3, seed=3),
    "mlp": layer(layers.Mlp, 11, "quick_gelu", dropout=0.1),
    "swiglu": layer(layers.SwiGLU, 11, dropout=0.1),
    "head_projection": layer(layers.HeadProjection, 2, parts=3),
    "attention": layer(layers.Attention, 2, dropout=0.1),
    "transformer_block": layer(layers.TransformerBlock, 2, 11),
    "transformer_block_all": layer(
        layers.TransformerBlock,
        2,
        11,
        dropout=0.1,
        attention_dropout=0.2,
        drop_path=0.3,
        layer_scale=0.5,
        activation="gelu_tanh",
        norm_epsilon=1e-5,
    ),
    "transformer_block_swiglu": layer(layers.TransformerBlock, 2, 11, mlp="swiglu"),
    "token_pooling": layer(layers.TokenPooling),
    "mean_pooling": layer(layers.MeanPooling, 2),
    "token_and_mean_pooling": layer(layers.TokenAndMeanPooling, 2),
    "probe_attention": layer(layers.ProbeAttention, 2, shapes=((3, 14), TOKENS)),
    "attention_pooling": layer(layers.AttentionPooling, 2, 11, "relu", 1e-5),
    "vit": vit(),
    "vit_dropouts": vit(
        depth=DEPTH,
        pooling="gap",
        class_token=False,
        position="sincos2d",
        width=12,
        dropout=0.1,
        attention_dropout=0.2,
        drop_path=0.3,
        layer_scale=0.5,
    ),
    "vit_registers": vit(pooling="gap_then_norm", registers=2, class_position=False),
    "vit_map": vit(
        pooling="map", registers=2, position="none", representation_size=13, activation="silu"
    ),
    "dinov2": vit(
        kind=DINOv2,
        registers=2,
        pooling="token_and_mean",
        layer_scale=0.5,
        mlp="swiglu",
        activation="silu",
    ),
    "deit": vit(kind=DeiT, registers=1, class_position=False),
    "vit_tokens": vit(pooling="none", num_classes=0, half=True),
    "relative_attention": layer(layers.RelativeAttention, 2, GRID, shapes=((15, 14),)),
    "relative_attention_map": layer(
        layers.RelativeAttention, 2, GRID, dropout=0.1, width=6, shapes=((3, 5, 14),)
    ),
    "window_attention": layer(layers.WindowAttention, 2, **WINDOWS, shapes=(MAP,)),
    "transformer_block_window": layer(
        layers.TransformerBlock, 2, 11, attention="window", attention_options=WINDOWS, shapes=(MAP,)
    ),
    "patch_merging": layer(layers.PatchMerging, shapes=((5, 6, 7),)),
    "group_norm": layer(layers.GroupNorm, 2, shapes=(MAP,)),
    "standardised_conv": layer(layers.StandardisedConv, 7, 3, 2, shapes=(MAP,)),
    "bottleneck": layer(layers.Bottleneck, 32, 2, shapes=(MAP,)),
    "conv_stem": layer(layers.ConvStem, 7, shapes=(IMAGE,)),
    "squeeze_excite": layer(layers.SqueezeExcite, 3, shapes=(MAP,)),
    "mbconv": layer(layers.MBConv, 6, halve=True, drop_path=0.3, shapes=((4, 6, 5),)),
    "pooled_shortcut": layer(layers.PooledShortcut, 6, True, "max", shapes=((4, 6, 5),)),
    "pooling_block": layer(
        layers.PoolingBlock, 2, 11, (2, 3), 14, pool="max", dropout=0.1, shapes=((4, 6, 5),)
    ),
    "swin": family(Swin, SwinConfig, SWIN),
    "coatnet": family(CoAtNet, CoAtNetConfig, COATNET, pooling="gap_then_norm"),
    "hybrid": family(Hybrid, HybridConfig, HYBRID, pooling="gap"),
    "causal_attention": layer(layers.CausalAttention, 2, dropout=0.1),
    "token_encoder": layer(layers.TokenEncoder, 14, 5, shapes=((7,),), integers=(0,)),
    "end_of_text_pooling": layer(
        layers.EndOfTextPooling, 3, shapes=(TOKENS, TOKENS[:1]), integers=(1,)
    ),
    "logit_scale": layer(layers.LogitScale, 0.5, 100.0, shapes=(TOKENS[1:],)),
    "logit_bias": layer(layers.LogitBias, -0.5, shapes=(TOKENS[1:],)),
    "clip": clip(CLIP, IMAGE, (3,), logit_bias=-0.5),
    "image_tower": clip(ImageTower, IMAGE, num_classes=7),
    "text_tower": clip(TextTower, (3,)),
    # Any batch is one of clips of one frame; several are in the models.
    "frame_encoder": layer(layers.FrameEncoder, 14, GRID, frames=1, shapes=(PATCHES,)),
    "relative_attention_prefix": layer(layers.RelativeAttention, 2, GRID, prefix=2),
    "performer_attention": layer(layers.PerformerAttention, 2, random_features=5, seed=3),
    "vit_relative": vit(position="relative", registers=1),
    "vit_performer": vit(attention="performer", random_features=5, pooling="gap"),
    "space_time_block": layer(
        layers.SpaceTimeBlock, 2, 11, frames=4, dropout=0.1, layer_scale=0.5, shapes=((13, 14),)
    ),
    "timesformer": timesformer(),
    "timesformer_joint": timesformer(space_time="joint"),
    "timesformer_space_only": timesformer(space_time="space_only", pooling="gap"),
    "token_scorer": layer(
        layers.TokenScorer, shapes=((17, 12), (16, 1)), integers=(1,), half=False
    ),
    "top_tokens": layer(layers.TopTokens, 5, shapes=(TOKENS, (16, 2)), half=False),
    "token_decision": layer(layers.TokenDecision, 5, seed=3, shapes=((16, 2),), half=False),
    "kept_attention": layer(
        layers.KeptAttention, 2, dropout=0.1, shapes=(TOKENS, TOKENS[:1]), integers=(1,)
    ),
    "kept_block": layer(layers.KeptBlock, 2, 11, shapes=(TOKENS, (16, 1)), integers=(1,)),
    "dynamic_vit": family(DynamicViT, DynamicViTConfig, DYNAMIC),
    "dynamic_vit_trainer": family(DynamicViTTrainer, DynamicViTConfig, DYNAMIC, pooling="gap"),
    "mae": family(MAE, MAEConfig, MASKED),
    "merged_vit": vit(merged=3, registers=1, pooling="gap"),
}
# Parts of `swin`, `coatnet`, `hybrid` and `timesformer`. Under JAX, which compiles each operation
# before it runs, they are checked inside those models.
PARTS = (
    "relative_attention",
    "relative_attention_map",
    "relative_attention_prefix",
    "performer_attention",
    "window_attention",
    "patch_merging",
    "group_norm",
    "standardised_conv",
    "bottleneck",
    "conv_stem",
    "squeeze_excite",
    "mbconv",
    "pooled_shortcut",
    "pooling_block",
    "causal_attention",
    "token_encoder",
    "end_of_text_pooling",
    "logit_scale",
    "logit_bias",
    "image_tower",
    "text_tower",
    "frame_encoder",
    "space_time_block",
    "token_scorer",
    "top_tokens",
    "token_decision",
    "kept_attention",
    "kept_block",
)
CHECKED = [name for name in CASES if BACKEND == "tensorflow" or name not in PARTS]
