import numpy as np
import pytest

from keras_vit.export.rewrite.norms import (
    PlainNorm,
    Rms,
    mean_of_rows,
    mean_of_squares,
    self_product,
)

X = np.random.default_rng(3).normal(1.0, 2.0, size=(2, 3, 5, 8))


def test_the_norms_against_numpy():
    square = (X**2).mean(axis=-1, keepdims=True)
    rms = Rms(1e-3, dtype="float64")
    np.testing.assert_allclose(rms(X), X / np.sqrt(square + 1e-3), rtol=1e-12)
    centred = X - X.mean(axis=-1, keepdims=True)
    plain = PlainNorm(1e-3, dtype="float64")
    expected = centred / np.sqrt(centred.var(axis=-1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(plain(X), expected, rtol=1e-12)
    assert rms.compute_output_shape(X.shape) == X.shape


@pytest.mark.parametrize("x", [X, X[0], X[0, 0]])
def test_a_mean_of_rows_is_that_of_the_last_axis(x):
    np.testing.assert_allclose(mean_of_rows(x), x.mean(axis=-1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("x", [X, X[0], X[0, 0]])
def test_a_product_with_itself_is_the_mean_of_squares(x):
    np.testing.assert_allclose(self_product(x), mean_of_squares(x), rtol=1e-12)


def test_squares_may_count_differently():
    weights = np.random.default_rng(5).uniform(size=8)
    expected = (X**2 * weights).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(self_product(X, weights), expected, rtol=1e-12)
