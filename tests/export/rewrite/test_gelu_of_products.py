import numpy as np
from scipy.special import erf

from keras_vit.export.rewrite.gelu_of_products import gelu_of_products, gelus_of_products
from keras_vit.layers.activations import gelu_tanh
from tests.export.rewrite.passes import outputs, prepared

X = np.linspace(-8, 8, 2001)


def test_it_is_the_tanh_form():
    np.testing.assert_allclose(gelu_of_products(X), gelu_tanh(X), atol=1e-12)


def test_how_far_it_is_from_the_exact_gelu():
    exact = X * (1 + erf(X / 2**0.5)) / 2
    assert 4e-4 < np.abs(gelu_of_products(X) - exact).max() < 4.8e-4


def test_the_mlps_take_it():
    model, _ = prepared("vit")
    before = outputs(model)
    model, changed = gelus_of_products(model)
    assert changed == 2 and model.get_layer("block_0").mlp._activate is gelu_of_products
    assert 0 < np.abs(outputs(model) - before).max() < 0.01 * np.abs(before).max()
    assert gelus_of_products(model)[1] == 0
