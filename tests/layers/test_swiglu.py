import numpy as np
import pytest

from keras_vit.layers import SwiGLU
from tests.layers.arrays import arrays, close, random_weights

GATES = {
    "silu": lambda x: x / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
}


@pytest.mark.parametrize("activation", GATES)
@pytest.mark.parametrize("shape", [(3, 13), (2, 5, 13)])
def test_against_numpy(shape, activation):
    layer = SwiGLU(11, activation)
    (x,) = arrays(shape)
    layer.build(x.shape)
    weights = random_weights(layer)
    both = x.astype("float64") @ weights["fc1/kernel"] + weights["fc1/bias"]
    product = GATES[activation](both[..., :11]) * both[..., 11:]
    assert close(layer(x), product @ weights["fc2/kernel"] + weights["fc2/bias"])


def test_dropout_acts_on_product_and_output_in_training():
    layer = SwiGLU(1009, "relu", dropout=0.5)
    x = np.ones((1, 1), "float32")
    layer.build(x.shape)
    layer.set_weights([np.ones((1, 2018)), np.zeros(2018), np.ones((1009, 1)), np.zeros(1)])
    outputs = {float(layer(x, training=True)[0, 0]) for _ in range(23)}
    assert 0.0 in outputs
    kept = [value for value in outputs if value]
    assert len(kept) > 1 and all(abs(value - 2018) < 330 for value in kept)
    np.testing.assert_array_equal(layer(x), [[1009.0]])


def test_an_unknown_activation():
    with pytest.raises(ValueError, match="`activation` must be one of"):
        SwiGLU(11, "swish")
