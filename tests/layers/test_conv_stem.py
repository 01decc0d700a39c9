import numpy as np

from keras_vit.layers import ConvStem
from tests.layers.arrays import arrays, close
from tests.layers.test_mbconv import GELU, batch_norm, set_weights


def convolved(x, kernel, stride):
    """One pixel of padding on each side."""
    x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, columns = (-(-(side - 2) // stride) for side in x.shape[1:3])
    return sum(
        x[:, i : i + stride * rows : stride, j : j + stride * columns : stride] @ kernel[i, j]
        for i in range(3)
        for j in range(3)
    )


def test_against_numpy():
    layer = ConvStem(7, norm_epsilon=1e-3)
    (x,) = arrays((2, 6, 10, 3))
    layer.build(x.shape)
    weights = set_weights(layer)
    y = convolved(x, weights["conv1/kernel"], 2)
    y = convolved(GELU(batch_norm(y, weights, "norm", 1e-3)), weights["conv2/kernel"], 1)
    assert close(layer(x), y)
    assert layer.compute_output_shape(x.shape) == (2, 3, 5, 7)
