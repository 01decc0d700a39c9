"""Calibration by hand and against a loop."""

import numpy as np
import pytest

from keras_vit.training.calibration import Bin, expected_calibration_error, reliability


def test_the_error_by_hand():
    # Two answers at 0.9, one of them right; one right at 0.6: (2 * 0.4 + 1 * 0.4) / 3.
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6]])
    bins = reliability(probabilities, np.array([0, 1, 1]))
    assert [(part.accuracy, part.images) for part in bins] == [(1.0, 1), (0.5, 2)]
    assert [part.confidence for part in bins] == pytest.approx([0.6, 0.9])
    assert expected_calibration_error(bins) == pytest.approx(0.4)


def test_equals_a_loop_over_images_and_bins():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.full(4, 0.4), size=211)
    labels = rng.integers(0, 4, size=211)
    expected, size = 0.0, 1 / 15
    for number in range(15):
        sure, right = [], []
        for row, label in zip(probabilities, labels, strict=True):
            if number * size < row.max() <= (number + 1) * size:
                sure.append(row.max())
                right.append(row.argmax() == label)
        if sure:
            expected += abs(np.mean(right) - np.mean(sure)) * len(sure) / 211
    bins = reliability(probabilities, labels)
    assert sum(part.images for part in bins) == 211
    assert expected_calibration_error(bins) == pytest.approx(expected, rel=1e-12)


def test_a_bin_has_its_upper_edge():
    bins = reliability(np.array([[0.5, 0.5], [0.75, 0.25], [1.0, 0.0]]), np.zeros(3), bins=4)
    assert bins == [Bin(0.5, 1.0, 1), Bin(0.75, 1.0, 1), Bin(1.0, 1.0, 1)]
