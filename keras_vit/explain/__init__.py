"""What a model looks at in a picture, by the names of its blocks and without a flag in its call."""

from keras_vit.explain.attention import attention, attention_maps
from keras_vit.explain.features import pooled_features
from keras_vit.explain.kept_patches import kept_patches, kept_picture
from keras_vit.explain.merged_patches import merged_patches, merged_picture
from keras_vit.explain.neighbours import nearest
from keras_vit.explain.overlay import overlay, rgb, visible_part
from keras_vit.explain.pca import patch_colours, principal_components
from keras_vit.explain.relevance import attention_relevance, relevance
from keras_vit.explain.rollout import attention_rollout, rollout
from keras_vit.explain.sheet import sheet

__all__ = [
    "attention",
    "attention_maps",
    "attention_relevance",
    "attention_rollout",
    "kept_patches",
    "kept_picture",
    "merged_patches",
    "merged_picture",
    "nearest",
    "overlay",
    "patch_colours",
    "pooled_features",
    "principal_components",
    "relevance",
    "rgb",
    "rollout",
    "sheet",
    "visible_part",
]
