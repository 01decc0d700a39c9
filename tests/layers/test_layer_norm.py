import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.layers import LayerNorm
from tests.layers.arrays import arrays, close, random_weights
from tests.oracles import vit_numpy


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3])
def test_against_keras_and_numpy(epsilon):
    (x,) = arrays((3, 5, 13))
    x = 3 * x + 2
    layer, theirs = LayerNorm(epsilon), keras.layers.LayerNormalization(epsilon=epsilon)
    layer.build(x.shape)
    theirs.build(x.shape)
    weights = {f"norm/{path}": value for path, value in random_weights(layer).items()}
    theirs.set_weights(layer.get_weights())
    assert close(layer(x), theirs(x), 2e-6)
    assert close(layer(x), vit_numpy.norm(x.astype("float64"), weights, "norm", epsilon), 2e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_keeps_float32_statistics(dtype):
    # Small values: their variance, 1e-8, is zero in float16, and so would epsilon be.
    (x,) = arrays((3, 13))
    halved = ops.cast(x * 1e-4, dtype)
    outputs = LayerNorm(1e-10, dtype=f"mixed_{dtype}")(halved)
    assert keras.backend.standardize_dtype(outputs.dtype) == dtype
    exact = ops.convert_to_numpy(ops.cast(halved, "float64"))
    centred = exact - exact.mean(-1, keepdims=True)
    expected = centred / np.sqrt(centred.var(-1, keepdims=True) + 1e-10)
    assert close(ops.cast(outputs, "float32"), expected, 0.005)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_large_values_do_not_overflow(dtype):
    x = ops.convert_to_tensor([[300.0, -300.0, 600.0, -600.0]], dtype)
    outputs = ops.convert_to_numpy(ops.cast(LayerNorm(dtype=f"mixed_{dtype}")(x), "float32"))
    np.testing.assert_allclose(outputs, [[0.6325, -0.6325, 1.2649, -1.2649]], rtol=0.005)


def test_weights_stay_float32_and_start_neutral():
    layer = LayerNorm(dtype="mixed_float16")
    layer.build((None, 7))
    assert [weight.dtype for weight in layer.weights] == ["float32", "float32"]
    np.testing.assert_array_equal(layer.gamma, np.ones(7))
    np.testing.assert_array_equal(layer.beta, np.zeros(7))


@pytest.mark.parametrize("epsilon", [0.0, -1e-6])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(ValueError, match=f"`epsilon` must be positive. Received: {epsilon}"):
        LayerNorm(epsilon)
