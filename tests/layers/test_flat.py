import keras
import numpy as np
import pytest

from keras_vit.layers.flat import flat, unflat


@pytest.mark.parametrize("shape", [(6, 7), (2, 3, 7), (2, 3, 5, 7)])
def test_there_and_back(shape):
    tokens = np.random.default_rng(3).normal(size=shape).astype("float32")
    matrix = flat(tokens)
    np.testing.assert_array_equal(matrix, tokens.reshape(-1, 7))
    np.testing.assert_array_equal(unflat(matrix[:, :5], tokens), tokens[..., :5])


def test_an_unknown_batch_leaves_the_other_sides_constant():
    tokens = keras.Input((3, 7))
    assert unflat(flat(tokens), tokens).shape == (None, 3, 7)
