"""Model architectures, one a file."""

from keras_vit.models import (
    clip,
    coatnet,
    deit,
    dinov2,
    dynamic_vit,
    hybrid,
    mae,
    swin,
    timesformer,
    vit,
)
from keras_vit.models.clip import CLIP, CLIPConfig, ImageTower, TextTower
from keras_vit.models.coatnet import CoAtNet, CoAtNetConfig
from keras_vit.models.deit import DeiT
from keras_vit.models.detector import Detector, DetectorConfig
from keras_vit.models.dinov2 import DINOv2
from keras_vit.models.dynamic_vit import DynamicViT, DynamicViTConfig
from keras_vit.models.dynamic_vit_trainer import DynamicViTTrainer
from keras_vit.models.hybrid import Hybrid, HybridConfig
from keras_vit.models.mae import MAE, MAEConfig
from keras_vit.models.merging import merge_tokens
from keras_vit.models.swin import Swin, SwinConfig
from keras_vit.models.timesformer import TimeSformer, TimeSformerConfig
from keras_vit.models.vit import ViT, ViTConfig

FAMILIES = (
    (ViT, vit),
    (DeiT, deit),
    (DINOv2, dinov2),
    (Hybrid, hybrid),
    (CoAtNet, coatnet),
    (Swin, swin),
    (CLIP, clip),
    (TimeSformer, timesformer),
    (MAE, mae),
    (DynamicViT, dynamic_vit),
)

# Name -> (model class, fields of its config). The plain ViT comes first: its names are the ones
# suggested for weights whose sizes several families share.
NAMES = {
    name: (model_class, fields)
    for model_class, module in FAMILIES
    for name, fields in module.NAMES.items()
}

__all__ = [
    "NAMES",
    "CLIP",
    "CLIPConfig",
    "CoAtNet",
    "CoAtNetConfig",
    "DINOv2",
    "DeiT",
    "Detector",
    "DetectorConfig",
    "DynamicViT",
    "DynamicViTConfig",
    "DynamicViTTrainer",
    "Hybrid",
    "HybridConfig",
    "ImageTower",
    "MAE",
    "MAEConfig",
    "Swin",
    "SwinConfig",
    "TextTower",
    "TimeSformer",
    "TimeSformerConfig",
    "ViT",
    "ViTConfig",
    "merge_tokens",
]
