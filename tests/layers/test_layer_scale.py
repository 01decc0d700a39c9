import numpy as np

from keras_vit.layers import LayerScale
from tests.layers.arrays import arrays, close, random_weights


def test_starts_with_its_value():
    layer = LayerScale(0.25)
    np.testing.assert_array_equal(layer(np.full((2, 3, 5), 4.0)), np.ones((2, 3, 5)))


def test_each_channel_has_a_factor():
    layer = LayerScale()
    (x,) = arrays((2, 3, 5))
    layer.build(x.shape)
    gamma = random_weights(layer)["gamma"]
    assert close(layer(x), x * gamma)
