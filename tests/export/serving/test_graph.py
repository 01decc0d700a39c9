"""The float32 twin of a mixed-precision model, with all that a server asks of it."""

import keras
import numpy as np

from keras_vit.export.serving.graph import float32_model
from tests.small_vit import small_vit


def test_a_float32_model_is_taken_as_it_is():
    model = small_vit(depth=1)
    assert float32_model(model) is model


def test_a_mixed_model_gets_a_twin_with_its_weights_and_features():
    model = small_vit(depth=1, dtype="mixed_bfloat16")
    twin = float32_model(model)
    assert {layer.compute_dtype for layer in twin.layers} == {"float32"}
    assert twin.preprocessing == model.preprocessing
    for found, expected in zip(twin.weights, model.weights, strict=True):
        np.testing.assert_array_equal(found, expected)
    images = np.zeros((1, 16, 16, 1), "float32")
    assert twin.features(images)["pooled"].dtype == "float32"


def test_a_plain_functional_model_keeps_its_preprocessing():
    source = small_vit(depth=1, dtype="mixed_bfloat16")
    plain = keras.Model(source.inputs[0], source.outputs[0])
    plain.preprocessing = source.preprocessing
    twin = float32_model(plain)
    assert {layer.compute_dtype for layer in twin.layers} == {"float32"}
    assert twin.preprocessing == source.preprocessing
