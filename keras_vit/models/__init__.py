"""Model architectures, one a file."""

from keras_vit.models.vit import ViT, ViTConfig

__all__ = ["ViT", "ViTConfig"]
