"""The probe stands at the optimum of its loss."""

import numpy as np

from keras_vit.training.probe import linear_probe


def test_the_gradient_of_the_loss_is_zero():
    rng = np.random.default_rng(3)
    labels = np.arange(90) % 3
    features = 5 + 20 * (rng.normal(size=(90, 4)) + np.eye(4)[labels])
    probe = linear_probe(features.astype("float32"), labels)
    weights, bias = probe[-1].coef_, probe[-1].intercept_
    x = (features - features.mean(axis=0)) / features.std(axis=0)
    scores = np.exp(x @ weights.T + bias)
    gaps = scores / scores.sum(axis=1, keepdims=True) - np.eye(3)[labels]
    # Cross-entropy summed over the images, and half the squared weights; the bias goes free.
    np.testing.assert_allclose(gaps.T @ x + weights, 0, atol=1e-3)
    np.testing.assert_allclose(gaps.sum(axis=0), 0, atol=1e-3)
    assert 0.5 < probe.score(features, labels) < 1
