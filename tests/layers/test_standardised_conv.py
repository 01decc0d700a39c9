import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.layers import STANDARDISATIONS, StandardisedConv
from tests.layers.arrays import arrays, close, random_weights


def standardised(kernel, name):
    centred = kernel - kernel.mean(axis=(0, 1, 2))
    if name == "deviation":
        return centred / (kernel.std(axis=(0, 1, 2)) + 1e-5)
    return centred / np.sqrt(kernel.var(axis=(0, 1, 2)) + 1e-8)


def convolved(x, kernel, stride):
    """TensorFlow's "same": what has to be padded is put below and at the right, the odd one too."""
    sides = x.shape[1:3]
    outs = [-(-side // stride) for side in sides]
    k = kernel.shape[0]
    pads = [max((out - 1) * stride + k - side, 0) for out, side in zip(outs, sides, strict=True)]
    x = np.pad(x, ((0, 0), *((pad // 2, pad - pad // 2) for pad in pads), (0, 0)))
    out = np.zeros((len(x), *outs, kernel.shape[-1]))
    for i in range(outs[0]):
        for j in range(outs[1]):
            part = x[:, i * stride : i * stride + k, j * stride : j * stride + k]
            out[:, i, j] = np.einsum("bhwc,hwcd->bd", part, kernel)
    return out


@pytest.mark.parametrize("name", STANDARDISATIONS)
@pytest.mark.parametrize(("size", "stride"), [(3, 1), (3, 2), (7, 2), (1, 2)])
def test_against_numpy(size, stride, name):
    layer = StandardisedConv(5, size, stride, name)
    (x,) = arrays((2, 6, 9, 3))
    layer.build(x.shape)
    kernel = random_weights(layer)["kernel"]
    assert close(layer(x), convolved(x, standardised(kernel, name), stride))


def test_the_two_standardisations_differ_for_a_small_kernel():
    kernel = ops.convert_to_tensor(arrays((3, 3, 5, 2))[0] * 1e-4)
    values = [ops.convert_to_numpy(f(kernel)) for f in STANDARDISATIONS.values()]
    assert np.abs(values[0] / values[1] - 1).max() > 0.05


def test_half_precision_is_standardised_in_float32():
    layer = StandardisedConv(5, 3, dtype="mixed_float16")
    (x,) = arrays((2, 6, 9, 3))
    layer.build(x.shape)
    # Squares of 1e-5 are zero in float16.
    layer.kernel.assign(layer.kernel * 1e-5)
    kernel = ops.convert_to_numpy(layer.kernel).astype("float64")
    value = layer(x)
    assert keras.backend.standardize_dtype(value.dtype) == "float16"
    expected = convolved(x, standardised(kernel, "variance"), 1)
    assert close(ops.cast(value, "float32"), expected, 5e-3)


def test_an_unknown_standardisation():
    with pytest.raises(ValueError, match=r"\['deviation', 'variance'\]. Received: 'std'"):
        StandardisedConv(5, 3, standardisation="std")
