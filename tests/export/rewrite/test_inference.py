"""The float32 twin: same numbers, no training parts, clear errors."""

import keras
import numpy as np
import pytest

from keras_vit.export.rewrite.inference import copy_weights, inference_model
from tests.small_vit import digit_images, small_vit


def test_the_twin_of_a_mixed_precision_model_is_float32():
    model = small_vit(dtype="mixed_float16", dropout=0.1, drop_path=0.2, attention_dropout=0.1)
    twin = inference_model(model)
    assert all(layer.compute_dtype == "float32" for layer in twin.layers)
    assert len(twin.variables) == len(twin.weights) == len(model.weights)  # no seed states
    pixels, _ = digit_images()
    images = model.preprocessing.normalize(pixels[:8])
    half = keras.ops.convert_to_numpy(model(images))
    full = keras.ops.convert_to_numpy(twin(images, training=True))  # dropouts are gone
    assert 0 < np.abs(half - full).max() < 0.05 * np.abs(full).max()


def test_the_copy_has_weights_of_its_own():
    model = small_vit()
    twin = inference_model(model)
    before = model.get_layer("head").bias.numpy()
    twin.get_layer("head").bias.assign(before + 1)
    np.testing.assert_array_equal(model.get_layer("head").bias.numpy(), before)


def test_a_model_that_is_no_graph_is_refused():
    with pytest.raises(ValueError, match="functional Keras model.*Received: Model"):
        inference_model(keras.Model())
    inputs = keras.Input((4,))
    two = keras.Model(inputs, [inputs * 2, inputs * 3])
    with pytest.raises(ValueError, match="one input and one output.*1 inputs, 2 outputs"):
        inference_model(two)


def test_weights_without_counterpart_are_named():
    with pytest.raises(ValueError, match="`dense/kernel`.*Received: nothing"):
        copy_weights([], _dense(3).weights)
    with pytest.raises(ValueError, match=r"shape \(5, 3\).*Received: the shape \(5, 2\)"):
        copy_weights(_dense(2).weights, _dense(3).weights)


def _dense(units):
    layer = keras.layers.Dense(units, name="dense")
    layer.build((None, 5))
    return layer
