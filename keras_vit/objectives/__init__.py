"""What models are trained for, beside classes, and what comes of it.

The losses state their kind, by which the exact step computes them on any number of replicas.
"""

from keras_vit.objectives.contrastive import ContrastiveLoss, SigmoidLoss, pair_logits
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
    "SigmoidLoss",
    "TEMPLATES",
    "at_length_one",
    "embed_images",
    "embed_texts",
    "pair_logits",
    "recall_at",
    "zero_shot_classifier",
]
