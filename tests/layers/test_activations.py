import math

import numpy as np
import pytest
from keras import ops

from keras_vit.layers import ACTIVATIONS, Mlp, activation
from tests.oracles import vit_numpy

ORACLES = {
    **vit_numpy.ACTIVATIONS,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


def test_every_activation_has_an_oracle():
    assert set(ORACLES) == set(ACTIVATIONS)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_against_numpy(name):
    x = np.linspace(-7, 7, 97)
    difference = ops.convert_to_numpy(activation(name)(x.astype("float32"))) - ORACLES[name](x)
    assert np.abs(difference).max() <= 1e-6


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "gelu": (-0.158655, 0.345731, 0.841345, 1.954500),
        "gelu_tanh": (-0.158808, 0.345714, 0.841192, 1.954598),
        "quick_gelu": (-0.154204, 0.350388, 0.845796, 1.935659),
    }.items(),
)
def test_golden_values(name, values):
    x = np.array([-1.0, 0.5, 1.0, 2.0], "float32")
    np.testing.assert_allclose(activation(name)(x), values, atol=6e-7)


def test_an_unknown_activation_lists_the_known():
    for make in (activation, lambda name: Mlp(5, name)):
        with pytest.raises(ValueError, match="`activation` must be one of") as caught:
            make("swish")
        assert "'quick_gelu'" in str(caught.value)
        assert "Received: 'swish'" in str(caught.value)


def test_gelu_is_not_its_tanh_form():
    assert math.isclose(float(activation("gelu")(3.0)), 2.995950, abs_tol=1e-6)
    assert math.isclose(float(activation("gelu_tanh")(3.0)), 2.996363, abs_tol=1e-6)
