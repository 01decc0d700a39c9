import keras
import numpy as np
import pytest

from keras_vit.export.rewrite.matrices import matrix, set_matrix, with_bias
from keras_vit.layers import HeadProjection

X = np.random.default_rng(3).normal(size=(2, 5, 6)).astype("float32")


def built(layer, shape):
    layer.build(shape)
    generator = np.random.default_rng(5)
    for weight in layer.weights:
        weight.assign(generator.normal(size=weight.shape))
    return layer


def test_a_dense_and_a_head_projection_are_their_matrices():
    dense = built(keras.layers.Dense(4), X.shape)
    kernel, bias = matrix(dense)
    assert kernel.dtype == bias.dtype == "float64"
    np.testing.assert_allclose(dense(X), X @ kernel + bias, rtol=1e-4, atol=1e-5)
    heads = built(HeadProjection(2, parts=3), X.shape)
    kernel, bias = matrix(heads)
    assert kernel.shape == (6, 18)
    expected = (X @ kernel + bias).reshape(2, 5, 3, 2, 3).transpose(2, 0, 3, 1, 4)
    for part, found in zip(expected, heads(X), strict=True):
        np.testing.assert_allclose(found, part, rtol=1e-4, atol=1e-5)


def test_a_convolutions_rows_are_its_inputs():
    images = np.random.default_rng(7).normal(size=(1, 4, 6, 3)).astype("float32")
    conv = built(keras.layers.Conv2D(5, 2, 2), images.shape)
    kernel, bias = matrix(conv)
    patch = images[0, :2, :2].reshape(-1)
    np.testing.assert_allclose(conv(images)[0, 0, 0], patch @ kernel + bias, rtol=1e-4, atol=1e-5)


def test_values_are_put_back_as_they_were_taken():
    heads = built(HeadProjection(2, parts=3), X.shape)
    kernel, bias = matrix(heads)
    set_matrix(heads, 2 * kernel, 3 * bias)
    np.testing.assert_allclose(matrix(heads)[0], 2 * kernel, rtol=1e-6)
    np.testing.assert_allclose(matrix(heads)[1], 3 * bias, rtol=1e-6)


def test_a_bias_needs_a_place():
    plain = built(keras.layers.Dense(4, use_bias=False), X.shape)
    kernel, bias = matrix(plain)
    assert not bias.any()
    with pytest.raises(ValueError, match="has no bias, and needs one"):
        set_matrix(plain, kernel, bias + 1)
    found = with_bias(plain)
    np.testing.assert_array_equal(found(X), plain(X))
    assert found.name == plain.name and found.bias.shape == (4,)
