"""Keras layers that vision transformers are made of; each works alone in any Keras model."""

from keras_vit.layers.activations import ACTIVATIONS, activation
from keras_vit.layers.attention import Attention, HeadProjection
from keras_vit.layers.base import Layer
from keras_vit.layers.bottleneck import Bottleneck
from keras_vit.layers.causal_attention import CausalAttention
from keras_vit.layers.conv_stem import ConvStem
from keras_vit.layers.drop_path import DropPath, drop_path_rates
from keras_vit.layers.end_of_text import EndOfTextPooling
from keras_vit.layers.frame_encoder import FrameEncoder
from keras_vit.layers.group_norm import GroupNorm
from keras_vit.layers.kept_attention import KeptAttention
from keras_vit.layers.kept_block import KeptBlock
from keras_vit.layers.layer_norm import LayerNorm
from keras_vit.layers.layer_scale import LayerScale
from keras_vit.layers.logit_scale import LogitBias, LogitScale
from keras_vit.layers.mbconv import STRIDES, MBConv, SqueezeExcite
from keras_vit.layers.mlp import Mlp
from keras_vit.layers.patch_encoder import PatchEncoder
from keras_vit.layers.patch_merging import PatchMerging
from keras_vit.layers.patches import Patches
from keras_vit.layers.performer_attention import PerformerAttention
from keras_vit.layers.pooled_shortcut import POOLS, PooledShortcut
from keras_vit.layers.pooling import (
    AttentionPooling,
    MeanPooling,
    ProbeAttention,
    TokenAndMeanPooling,
    TokenPooling,
)
from keras_vit.layers.pooling_block import PoolingBlock
from keras_vit.layers.positions import sincos2d
from keras_vit.layers.preprocessing import Preprocessing
from keras_vit.layers.relative_attention import RelativeAttention
from keras_vit.layers.space_time_block import SpaceTimeBlock
from keras_vit.layers.standardised_conv import STANDARDISATIONS, StandardisedConv
from keras_vit.layers.swiglu import SwiGLU
from keras_vit.layers.token_decision import TokenDecision
from keras_vit.layers.token_encoder import TokenEncoder
from keras_vit.layers.token_scorer import TokenScorer
from keras_vit.layers.top_tokens import TopTokens
from keras_vit.layers.transformer_block import ATTENTION, MLPS, TransformerBlock
from keras_vit.layers.window_attention import WindowAttention

__all__ = [
    "ACTIVATIONS",
    "ATTENTION",
    "Attention",
    "AttentionPooling",
    "CausalAttention",
    "DropPath",
    "EndOfTextPooling",
    "FrameEncoder",
    "HeadProjection",
    "KeptAttention",
    "KeptBlock",
    "Layer",
    "LayerNorm",
    "LayerScale",
    "LogitBias",
    "LogitScale",
    "MLPS",
    "MeanPooling",
    "Mlp",
    "PatchEncoder",
    "PatchMerging",
    "Patches",
    "PerformerAttention",
    "Preprocessing",
    "ProbeAttention",
    "RelativeAttention",
    "SpaceTimeBlock",
    "SwiGLU",
    "TokenAndMeanPooling",
    "TokenDecision",
    "TokenEncoder",
    "TokenPooling",
    "TokenScorer",
    "TopTokens",
    "TransformerBlock",
    "WindowAttention",
    "Bottleneck",
    "ConvStem",
    "GroupNorm",
    "STRIDES",
    "MBConv",
    "SqueezeExcite",
    "POOLS",
    "PooledShortcut",
    "PoolingBlock",
    "STANDARDISATIONS",
    "StandardisedConv",
    "activation",
    "drop_path_rates",
    "sincos2d",
]
