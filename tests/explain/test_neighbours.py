"""Nearest neighbours by hand."""

import numpy as np
import pytest

from keras_vit.explain.neighbours import nearest

FEATURES = np.array([[3.0, 4.0], [0.0, 2.0], [-1.0, 0.0], [0.0, 0.0], [5.0, 0.0]])


def test_order_and_cosines_by_hand():
    indices, cosines = nearest(np.array([[2.0, 0.0], [0.0, 0.5]]), FEATURES, 3)
    assert indices.tolist() == [[4, 0, 1], [1, 0, 2]]
    np.testing.assert_allclose(cosines, [[1, 0.6, 0], [1, 0.8, 0]], atol=1e-15)


def test_more_than_there_are_gives_all():
    indices, _ = nearest(FEATURES[:1], FEATURES, 100)
    assert sorted(indices[0]) == [0, 1, 2, 3, 4]


def test_wrong_arguments():
    with pytest.raises(ValueError, match="`count` must be at least 1. Received: 0"):
        nearest(FEATURES, FEATURES, 0)
    with pytest.raises(ValueError, match="one width. Received: 2 and 3"):
        nearest(FEATURES, np.ones((4, 3)), 1)
