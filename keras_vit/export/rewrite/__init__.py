"""Rewrites of a model for inference, each exact in float."""

from keras_vit.export.rewrite.inference import inference_model
from keras_vit.export.rewrite.patch_convolution import patch_convolution
from keras_vit.export.rewrite.rewriting import EXACT, MEASURED, PASSES, Step, rewrite

__all__ = [
    "EXACT",
    "MEASURED",
    "PASSES",
    "Step",
    "inference_model",
    "patch_convolution",
    "rewrite",
]
