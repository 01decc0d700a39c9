"""The neighbours' vote against a loop."""

import math

import numpy as np
import pytest

from keras_vit.training.knn import knn


def by_loop(features, labels, queries, k, temperature):
    answers = []
    for query in queries:
        cosines = [
            float(query @ row / math.sqrt(query @ query) / math.sqrt(row @ row)) for row in features
        ]
        votes = dict.fromkeys(labels.tolist(), 0.0)
        for index in sorted(range(len(cosines)), key=lambda i: -cosines[i])[:k]:
            votes[int(labels[index])] += math.exp(cosines[index] / temperature)
        answers.append(max(votes, key=votes.get))
    return answers


@pytest.mark.parametrize(("k", "temperature"), [(20, 0.07), (5, 1.0), (1, 0.07)])
def test_equals_a_loop(k, temperature):
    rng = np.random.default_rng(k)
    labels = rng.integers(0, 5, size=83)
    features = rng.normal(size=(83, 7)) + 0.7 * np.eye(7)[labels]
    queries = 3 * rng.normal(size=(41, 7))
    answers = knn(features, labels, queries, k, temperature)
    assert answers.tolist() == by_loop(features, labels, queries, k, temperature)


def test_near_votes_count_more_than_many():
    features = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    query = np.array([[1.0, 0.2]])
    assert knn(features, np.array([4, 9, 9]), query).tolist() == [4]
    assert knn(features, np.array([4, 9, 9]), query, temperature=100.0).tolist() == [9]


@pytest.mark.parametrize(("k", "temperature"), [(0, 1.0), (1, 0.0)])
def test_wrong_arguments(k, temperature):
    with pytest.raises(ValueError, match=f"Received: k={k}, temperature={temperature}"):
        knn(np.eye(2), [0, 1], np.eye(2), k, temperature)
