import numpy as np
import pytest
from keras import ops

from keras_vit.layers import Mlp
from tests.layers.arrays import arrays, close, random_weights
from tests.oracles import vit_numpy


@pytest.mark.parametrize("activation", vit_numpy.ACTIVATIONS)
@pytest.mark.parametrize("shape", [(3, 13), (2, 5, 13), (2, 3, 5, 13)])
def test_against_numpy(shape, activation):
    layer = Mlp(11, activation)
    (x,) = arrays(shape)
    layer.build(x.shape)
    weights = {f"mlp/{path}": value for path, value in random_weights(layer).items()}
    assert close(layer(x), vit_numpy.mlp(x, weights, "mlp", activation))


def test_dropout_acts_on_both_layers_in_training():
    layer = Mlp(1009, "relu", dropout=0.5)
    x = np.ones((1, 1), "float32")
    layer.build(x.shape)
    layer.set_weights([np.ones((1, 1009)), np.zeros(1009), np.ones((1009, 1)), np.zeros(1)])
    outputs = {float(ops.squeeze(layer(x, training=True))) for _ in range(23)}
    assert 0.0 in outputs  # the second one drops the only output
    kept = [value for value in outputs if value]
    # The first one keeps about half of 1009, doubled twice: 2018, standard deviation 64.
    assert len(kept) > 1 and all(abs(value - 2018) < 330 for value in kept)
    np.testing.assert_array_equal(layer(x), [[1009.0]])


def test_biases_start_small_and_not_zero():
    layer = Mlp(101)
    layer.build((None, 103))
    for bias in (layer.fc1.bias, layer.fc2.bias):
        assert 0.5e-6 < ops.convert_to_numpy(bias).std() < 2e-6
