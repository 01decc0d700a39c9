import itertools

import numpy as np
import pytest
from keras import ops

from keras_vit.layers import WindowAttention
from tests.layers.arrays import arrays, close, random_weights
from tests.layers.test_relative_attention import attend, bias_of


def made(size, window, shift):
    layer = WindowAttention(2, size=size, window=window, shift=shift)
    layer.build((None, *size, 14))
    return layer, random_weights(layer)


def by_hand(x, weights, window, shift):
    """Cuts a map that its windows divide, by slices, and lets each part see itself alone.

    The borders of shifted windows lie half a window earlier, along the axes that have several.
    What is then left at the borders of the map is smaller than a window.
    """
    cuts = [
        sorted({0, *range(side // 2 if shift and side < length else 0, length, side), length})
        for side, length in zip(window, x.shape[1:3], strict=True)
    ]
    bias = bias_of(weights, window).reshape(2, *window, *window)
    out = np.zeros(x.shape)
    for top, bottom in itertools.pairwise(cuts[0]):
        for left, right in itertools.pairwise(cuts[1]):
            part = x[:, top:bottom, left:right]
            h, w = part.shape[1:3]
            # Only offsets count: any corner of the window has the same.
            own = bias[:, :h, :w, :h, :w].reshape(2, h * w, h * w)
            attended = attend(part.reshape(len(x), h * w, -1), weights, own)
            out[:, top:bottom, left:right] = attended.reshape(part.shape)
    return out


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize(
    ("size", "window"),
    [((6, 15), (2, 3)), ((4, 10), (4, 5)), ((3, 5), (3, 5))],
)
def test_against_windows_one_by_one(size, window, shift):
    layer, weights = made(size, window, shift)
    (x,) = arrays((2, *size, 14))
    assert close(layer(x), by_hand(x, weights, window, shift))


def test_a_window_larger_than_the_map_is_the_map():
    layer, weights = made((3, 5), (7, 7), True)
    assert weights["relative_bias"].shape == (5 * 9, 2)
    (x,) = arrays((2, 3, 5, 14))
    assert close(layer(x), by_hand(x, weights, (3, 5), False))


def test_a_padded_map_is_the_map_with_zeros_around():
    layer, _ = made((5, 7), (2, 3), True)
    whole, _ = made((6, 9), (2, 3), True)
    whole.set_weights(layer.get_weights())
    (x,) = arrays((2, 5, 7, 14))
    padded = np.pad(x, ((0, 0), (0, 1), (0, 2), (0, 0)))
    assert close(layer(x), ops.convert_to_numpy(whole(padded))[:, :5, :7])


def test_a_map_of_another_size():
    layer, _ = made((6, 15), (2, 3), True)
    with pytest.raises(ValueError, match=r"\[b, 6, 15, c\]. Received: shape=\(2, 15, 6, 14\)"):
        layer(ops.ones((2, 15, 6, 14)))
