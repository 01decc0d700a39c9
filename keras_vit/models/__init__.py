"""Model architectures, one a file."""

from keras_vit.models import deit, dinov2, vit
from keras_vit.models.deit import DeiT
from keras_vit.models.dinov2 import DINOv2
from keras_vit.models.vit import ViT, ViTConfig

# Name -> (model class, fields of its config). The plain ViT comes first: its names are the ones
# suggested for weights whose sizes several families share.
NAMES = {
    name: (model_class, fields)
    for model_class, module in ((ViT, vit), (DeiT, deit), (DINOv2, dinov2))
    for name, fields in module.NAMES.items()
}

__all__ = ["NAMES", "DINOv2", "DeiT", "ViT", "ViTConfig"]
