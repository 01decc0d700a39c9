import numpy as np
import pytest

from keras_vit.layers import Bottleneck
from tests.layers.arrays import arrays, close, random_weights
from tests.layers.test_group_norm import by_groups
from tests.layers.test_standardised_conv import convolved, standardised


def pair(x, weights, number, stride=1, prefix=""):
    kernel = standardised(weights[f"{prefix}conv{number}/kernel"], "variance")
    normed = by_groups(convolved(x, kernel, stride), 32, 1e-5)
    norm = f"{prefix}norm{number}"
    return normed * weights[f"{norm}/gamma"] + weights[f"{norm}/beta"]


@pytest.mark.parametrize(("channels", "stride"), [(128, 1), (5, 1), (128, 2)])
def test_against_numpy(channels, stride):
    layer = Bottleneck(32, stride)
    (x,) = arrays((1, 3, 4, channels))
    layer.build(x.shape)
    weights = random_weights(layer)
    y = np.maximum(pair(x, weights, 1), 0)
    y = np.maximum(pair(y, weights, 2, stride), 0)
    y = pair(y, weights, 3)
    projects = (channels, stride) != (128, 1)
    shortcut = pair(x, weights, "", stride, "shortcut_") if projects else x
    assert any(path.startswith("shortcut") for path in weights) == projects
    assert close(layer(x), np.maximum(shortcut + y, 0))
