"""A small random model of every family that is exported."""

import numpy as np

from keras_vit.layers import Preprocessing
from keras_vit.models import (
    CoAtNet,
    CoAtNetConfig,
    DeiT,
    DINOv2,
    Hybrid,
    HybridConfig,
    Swin,
    SwinConfig,
    ViT,
    ViTConfig,
)

PREPROCESSING = Preprocessing(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
SMALL = {"width": 24, "depth": 2, "num_heads": 3, "mlp_dim": 48, "num_classes": 7}
VIT = {"image_size": (16, 24), "patch_size": 4, "preprocessing": PREPROCESSING, **SMALL}
SWIN = {
    "image_size": (32, 48),
    "width": 12,
    "depths": (2, 2),
    "num_heads": (2, 3),
    "window_size": (4, 3),
    "num_classes": 7,
    "preprocessing": PREPROCESSING,
}
COATNET = {
    "image_size": (32, 48),
    "stem_width": 8,
    "stages": (("conv", 8, 1, True), ("attention", 16, 2, True), ("attention", 24, 1, True)),
    "head_dim": 8,
    "num_classes": 7,
    "preprocessing": PREPROCESSING,
}
HYBRID = {**VIT, "image_size": (32, 48), "units": (1,), "patch_size": 8, "root_width": 32}

# name -> function that builds it
FAMILIES = {
    "vit": lambda: ViT(ViTConfig(**VIT)),
    "vit_map_sincos": lambda: ViT(ViTConfig(**VIT, pooling="map", position="sincos2d")),
    "vit_gap_then_norm": lambda: ViT(ViTConfig(**VIT, pooling="gap_then_norm")),
    "deit": lambda: DeiT(ViTConfig(**VIT, registers=1, class_position=False)),
    "dinov2": lambda: DINOv2(
        ViTConfig(**VIT, layer_scale=0.1, registers=2, pooling="token_and_mean", mlp="swiglu")
    ),
    "dinov2_headless": lambda: DINOv2(ViTConfig(**{**VIT, "num_classes": 0}, layer_scale=0.1)),
    "swin": lambda: Swin(SwinConfig(**SWIN)),
    "swin_padded": lambda: Swin(SwinConfig(**{**SWIN, "image_size": (27, 50)})),
    "coatnet": lambda: CoAtNet(CoAtNetConfig(**COATNET)),
    "coatnet_max": lambda: CoAtNet(CoAtNetConfig(**COATNET, pool="max")),
    "hybrid": lambda: Hybrid(HybridConfig(**HYBRID)),
}


def family(name):
    """The model with weights that no part leaves at its start: no norm is trivial."""
    model = FAMILIES[name]()
    generator = np.random.default_rng(3)
    for weight in model.weights:
        value = generator.normal(0, 0.2, weight.shape)
        if weight.path.endswith(("gamma", "moving_variance")):
            value = np.abs(value) + 0.5
        weight.assign(value)
    return model
