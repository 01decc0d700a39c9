"""The activations against golden values and against numpy."""

import keras
import numpy as np
import pytest

from keras_vit.layers import ACTIVATIONS, activation
from tests.oracles import vit_numpy

POINTS = [-1.0, 0.5, 1.0, 2.0]
GOLDEN = {
    "gelu": [-0.158655, 0.345731, 0.841345, 1.954500],
    "gelu_tanh": [-0.158808, 0.345714, 0.841192, 1.954598],
    "quick_gelu": [-0.154204, 0.350388, 0.845796, 1.935659],
    "relu": [0.0, 0.5, 1.0, 2.0],
    # x / (1 + exp(-x))
    "silu": [-0.268941, 0.311230, 0.731059, 1.761594],
}


def test_every_activation_has_golden_values():
    assert set(GOLDEN) == set(ACTIVATIONS)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values(name):
    values = activation(name)(keras.ops.convert_to_tensor(POINTS))
    np.testing.assert_allclose(values, GOLDEN[name], rtol=0, atol=6e-7)


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 1e-6), ("float64", 1e-15)])
@pytest.mark.parametrize("name", vit_numpy.ACTIVATIONS)
def test_numpy_agrees(name, dtype, limit):
    if dtype == "float64" and keras.backend.backend() != "tensorflow":
        pytest.skip("Keras 3.15 turns float64 into float32 on other backends")
    points = np.linspace(-6.0, 6.0, 1009)
    values = activation(name)(keras.ops.convert_to_tensor(points, dtype=dtype))
    assert keras.backend.standardize_dtype(values.dtype) == dtype
    difference = np.abs(np.asarray(values) - vit_numpy.ACTIVATIONS[name](points))
    assert difference.max() <= 6 * limit


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh"])
def test_a_symbolic_input_is_taken(name):
    assert activation(name)(keras.Input((7,))).shape == (None, 7)


def test_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match="'gelu_tanh'.* Received: 'swoosh'"):
        activation("swoosh")
