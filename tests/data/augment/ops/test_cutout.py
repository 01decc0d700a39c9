import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data.augment import ops
from tests.data.augment.ops.pillow import PICTURES


@pytest.mark.parametrize("centre", [(15, 20), (2, 41), (0, 0)])
@pytest.mark.parametrize("half", [0, 3, 99])
def test_a_square_is_painted_and_nothing_else(half, centre):
    expected = PICTURES["noise"].copy()
    top, left = (max(0, place - half) for place in centre)
    expected[top : centre[0] + half, left : centre[1] + half] = (1, 2, 3)
    out = ops.cutout(tf.constant(PICTURES["noise"]), half, centre, (1, 2, 3))
    np.testing.assert_array_equal(out, expected)
