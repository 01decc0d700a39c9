"""Rewrites of a model for inference, each exact in float."""

from keras_vit.export.rewrite.inference import inference_model
from keras_vit.export.rewrite.patch_convolution import patch_convolution

__all__ = ["inference_model", "patch_convolution"]
