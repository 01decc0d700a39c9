"""Few-shot regression against numpy's least squares."""

import numpy as np
import pytest

from keras_vit.training.few_shot import PENALTIES, best, few_shot, ridge, standardised


def by_lstsq(features, targets, penalty):
    """The penalty as more rows, whose targets are 0."""
    width = features.shape[1]
    rows = np.concatenate([features, np.sqrt(penalty) * np.eye(width)])
    zeros = np.zeros((width, targets.shape[1]))
    return np.linalg.lstsq(rows, np.concatenate([targets, zeros]), rcond=None)[0]


@pytest.mark.parametrize("shape", [(23, 7), (7, 23)])
def test_ridge_is_least_squares_with_more_rows(shape):
    rng = np.random.default_rng(1)
    features, targets = rng.normal(size=shape), rng.normal(size=(shape[0], 3))
    for penalty, found in zip([0.01, 8.0], ridge(features, targets, [0.01, 8.0]), strict=True):
        np.testing.assert_allclose(found, by_lstsq(features, targets, penalty), rtol=1e-8)


def test_features_are_standardised_by_the_chosen_images():
    train, test = standardised(np.array([[1.0, 4], [3, 4]]), np.array([[5.0, 4]]))
    np.testing.assert_allclose(train, [[-1, 0, 100], [1, 0, 100]], atol=1e-4)
    np.testing.assert_allclose(test, [[3, 0, 100]], atol=1e-4)


def test_accuracies_are_those_of_numpys_weights():
    rng = np.random.default_rng(2)
    labels, truth = rng.permutation(np.arange(40) % 4), np.arange(60) % 4
    features = rng.normal(size=(40, 9)) + 2.5 * np.eye(9)[labels]
    queries = rng.normal(size=(60, 9)) + 2.5 * np.eye(9)[truth]
    # All ten of each class: nothing is left to the draw.
    found = few_shot(features, labels, queries, truth, shots=(10, 99), penalties=[0.5, 64.0])
    assert found[10] == pytest.approx(found[99])
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    train, test = ((x - mean) / (deviation + 1e-5) for x in (features, queries))
    train, test = (np.hstack([x, np.full((len(x), 1), 100.0)]) for x in (train, test))
    for penalty in (0.5, 64.0):
        weights = by_lstsq(train, 2 * np.eye(4)[labels] - 1, penalty)
        expected = np.mean((test @ weights).argmax(axis=1) == truth)
        assert found[10][penalty] == pytest.approx(expected)
        assert 0.5 < expected < 1


def test_seeds_draw_other_images_and_are_averaged():
    rng = np.random.default_rng(6)
    labels = np.arange(60) % 3
    features = rng.normal(size=(60, 5)) + np.eye(5)[labels]
    measure = lambda seeds: few_shot(features, labels, features, labels, (1,), [1.0], seeds)[1][1.0]  # noqa: E731
    singles = [measure([seed]) for seed in range(3)]
    assert len(set(singles)) > 1
    assert measure(range(3)) == pytest.approx(np.mean(singles))


def test_the_best_penalty_is_the_smaller_of_two():
    assert best({1.0: 0.5, 2.0: 0.75, 4.0: 0.75}) == (2.0, 0.75)
    assert PENALTIES[0] == 2**-10 and PENALTIES[-1] == 2**20
