"""Keras layers that vision transformers are made of; each works alone in any Keras model."""

from keras_vit.layers.activations import ACTIVATIONS, activation
from keras_vit.layers.attention import ATTENTION, Attention, HeadProjection
from keras_vit.layers.base import Layer
from keras_vit.layers.drop_path import DropPath, drop_path_rates
from keras_vit.layers.layer_norm import LayerNorm
from keras_vit.layers.layer_scale import LayerScale
from keras_vit.layers.mlp import Mlp
from keras_vit.layers.patch_encoder import PatchEncoder
from keras_vit.layers.patches import Patches
from keras_vit.layers.pooling import (
    AttentionPooling,
    MeanPooling,
    ProbeAttention,
    TokenAndMeanPooling,
    TokenPooling,
)
from keras_vit.layers.positions import sincos2d
from keras_vit.layers.preprocessing import Preprocessing
from keras_vit.layers.swiglu import SwiGLU
from keras_vit.layers.transformer_block import MLPS, TransformerBlock

__all__ = [
    "ACTIVATIONS",
    "ATTENTION",
    "Attention",
    "AttentionPooling",
    "DropPath",
    "HeadProjection",
    "Layer",
    "LayerNorm",
    "LayerScale",
    "MLPS",
    "MeanPooling",
    "Mlp",
    "PatchEncoder",
    "Patches",
    "Preprocessing",
    "ProbeAttention",
    "SwiGLU",
    "TokenAndMeanPooling",
    "TokenPooling",
    "TransformerBlock",
    "activation",
    "drop_path_rates",
    "sincos2d",
]
