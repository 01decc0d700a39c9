import numpy as np
import pytest
from keras import ops

from keras_vit.layers import DropPath, drop_path_rates


def test_whole_examples_are_dropped_and_the_expectation_kept():
    inputs = np.ones((4001, 3, 2), "float32")
    outputs = ops.convert_to_numpy(DropPath(0.3, seed=1)(inputs, training=True))
    rows = outputs.reshape(4001, -1)
    assert (rows == rows[:, :1]).all()
    np.testing.assert_allclose(np.unique(rows), [0, 1 / 0.7], rtol=1e-6)
    # Five standard deviations of the mean: sqrt(0.3 / 0.7 / 4001) each.
    assert abs(rows[:, 0].mean() - 1) < 0.052


def test_each_call_drops_anew():
    layer = DropPath(0.5, seed=1)
    inputs = np.ones((101, 1), "float32")
    one, other = (ops.convert_to_numpy(layer(inputs, training=True)) for _ in range(2))
    assert not np.array_equal(one, other)


def test_a_seed_repeats():
    inputs = np.ones((101, 1), "float32")
    one, other = (
        ops.convert_to_numpy(DropPath(0.5, seed=7)(inputs, training=True)) for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("rate", "training"), [(0.0, True), (0.7, False), (0.7, None)])
def test_identity(rate, training):
    inputs = np.arange(6, dtype="float32").reshape(3, 2)
    np.testing.assert_array_equal(DropPath(rate)(inputs, training=training), inputs)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5])
def test_rate_outside_its_range(rate):
    with pytest.raises(ValueError, match=rf"`rate` must be in \[0, 1\)\. Received: {rate}"):
        DropPath(rate)


def test_rates_rise_linearly():
    assert drop_path_rates(0.3, 4) == [0.0, 0.1, 0.2, 0.3]
    assert drop_path_rates(0.5, 1) == [0.0]
    assert drop_path_rates(0.0, 3) == [0.0, 0.0, 0.0]
    assert drop_path_rates(0.5, 0) == []
