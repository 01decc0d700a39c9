"""Rewrites of a model for inference, each exact in float."""

from keras_vit.export.rewrite import gelu_of_products
from keras_vit.export.rewrite.inference import inference_model
from keras_vit.export.rewrite.patch_convolution import patch_convolution

__all__ = ["FORMS", "inference_model", "patch_convolution"]

# name -> function that changes a copy in place
FORMS = {"gelu_of_products": gelu_of_products.apply}
