"""The float32 model that a served artefact computes with, from raw pixels."""

import keras

from keras_vit.export.rewrite import inference_model
from keras_vit.export.rewrite.inference import copy_weights
from keras_vit.models.base import ImageModel


def float32_model(model):
    """Returns the model itself if it computes in float32, otherwise its float32 twin.

    Nothing is folded or rewritten: a server has the room, and so every family can be served, with
    its features and its attention.

    Args:
        model: a functional Keras model with a `preprocessing`.

    Raises:
        ValueError: if `model` is not functional, or has several inputs or outputs.
    """
    if all(layer.compute_dtype == "float32" for layer in model.layers):
        return model
    if not isinstance(model, ImageModel):
        twin = inference_model(model)
        twin.preprocessing = model.preprocessing
        return twin
    policy = keras.dtype_policies.serialize(keras.DTypePolicy("float32"))
    twin = type(model).from_config({**model.get_config(), "dtype": policy})
    copy_weights(model.weights, twin.weights)
    return twin
