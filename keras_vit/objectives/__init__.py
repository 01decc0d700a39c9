"""What models are trained for, beside classes, and what comes of it.

The losses state their kind, by which the exact step computes them on any number of replicas.
"""

from keras_vit.objectives.contrastive import ContrastiveLoss, SigmoidLoss, pair_logits
from keras_vit.objectives.detection_loss import DetectionLoss
from keras_vit.objectives.distillation import HardDistillation, SoftDistillation
from keras_vit.objectives.distillation_model import Distiller
from keras_vit.objectives.distillation_teacher import RANGES, Teacher
from keras_vit.objectives.dynamic_vit import DynamicViTLoss, TokenDistillationLoss
from keras_vit.objectives.masked_pixels import MaskedPixelLoss, painted_images
from keras_vit.objectives.retrieval import recall_at
from keras_vit.objectives.zero_shot import (
    TEMPLATES,
    at_length_one,
    embed_images,
    embed_texts,
    zero_shot_classifier,
)

__all__ = [
    "ContrastiveLoss",
    "DetectionLoss",
    "DynamicViTLoss",
    "Distiller",
    "HardDistillation",
    "MaskedPixelLoss",
    "RANGES",
    "SigmoidLoss",
    "SoftDistillation",
    "TEMPLATES",
    "TokenDistillationLoss",
    "Teacher",
    "at_length_one",
    "embed_images",
    "embed_texts",
    "painted_images",
    "pair_logits",
    "recall_at",
    "zero_shot_classifier",
]
