import math

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data.augment.beta import beta
from tests.data.augment.scene import keys


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.8, 1.0])
def test_its_distribution(alpha):
    """Against the cumulative distribution: TensorFlow's regularised incomplete beta function."""
    drawn = np.sort(beta(keys(4000), alpha).numpy().astype("float64"))
    assert 0 <= drawn[0] and drawn[-1] <= 1
    expected = tf.math.betainc(np.float64(alpha), np.float64(alpha), drawn).numpy()
    apart = np.abs(expected - (np.arange(4000) + 0.5) / 4000).max()
    assert apart < 1.95 / math.sqrt(4000), apart  # Kolmogorov's bound at 0.1 %
    assert drawn.var() == pytest.approx(1 / (8 * alpha + 4), rel=0.06)


def test_a_key_has_its_number_in_any_batch():
    np.testing.assert_array_equal(beta(keys(9), 0.3)[4:6], beta(keys(9)[4:6], 0.3))
