import numpy as np
import pytest
from keras import ops

from keras_vit.layers import GroupNorm
from tests.layers.arrays import arrays, close, random_weights


def by_groups(x, groups, epsilon):
    """Each group of each example by itself."""
    out = np.empty(x.shape)
    size = x.shape[-1] // groups
    for example in range(len(x)):
        for start in range(0, x.shape[-1], size):
            part = x[example, ..., start : start + size].astype("float64")
            normed = (part - part.mean()) / np.sqrt(part.var() + epsilon)
            out[example, ..., start : start + size] = normed
    return out


@pytest.mark.parametrize("groups", [1, 2, 14])
def test_against_numpy(groups):
    layer = GroupNorm(groups, 1e-3)
    (x,) = arrays((2, 3, 5, 14))
    layer.build(x.shape)
    weights = random_weights(layer)
    expected = by_groups(x + 3, groups, 1e-3) * weights["gamma"] + weights["beta"]
    assert close(layer(x + 3), expected)


def test_half_precision_is_normed_in_float32():
    layer = GroupNorm(2, 1e-6, dtype="mixed_float16")
    (x,) = arrays((2, 3, 5, 14))
    small = (x * 1e-3).astype("float16")  # its variance underflows in float16
    value = layer(small)
    assert value.dtype == "float16"
    expected = by_groups(small.astype("float64"), 2, 1e-6)
    assert close(ops.cast(value, "float32"), expected, 2e-3)


def test_groups_must_divide_the_channels():
    with pytest.raises(ValueError, match="groups=3, channels=14"):
        GroupNorm(3).build((None, 3, 5, 14))
