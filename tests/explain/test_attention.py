"""Attention of one block against numpy."""

import numpy as np
import pytest

from keras_vit.explain.attention import attention, attention_maps
from tests.explain.tiny import images, run, tiny


def test_each_block_and_head_equals_numpy():
    model, pictures = tiny(registers=1), images()
    expected, _ = run(model, pictures)
    for index in range(3):
        found = attention(model, pictures, f"block_{index}")
        np.testing.assert_allclose(found, expected[index], rtol=1e-9)
        np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-12)
    np.testing.assert_array_equal(attention(model, pictures), found)
    maps = attention_maps(model, pictures, "block_1")
    np.testing.assert_allclose(maps, expected[1][:, :, 0, 2:].reshape(2, 2, 2, 3), rtol=1e-9)


def test_an_unknown_block_is_an_error_with_the_names():
    with pytest.raises(ValueError, match="one of block_0, block_1. Received: 'block_7'"):
        attention(tiny(depth=2), images(), "block_7")
