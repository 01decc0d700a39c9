"""FAVOR+ against the softmax in float64, in the regime where it converges."""

import numpy as np
import pytest
from keras import ops

from keras_vit.layers.random_features import (
    KERNELS,
    default_count,
    linear_attention,
    orthogonal_directions,
    positive_features,
)


def exact(query, key, value):
    scores = query @ key.transpose(0, 1, 3, 2) / query.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ value


def drawn(generator, size, spread, tokens=64):
    query, key, value = generator.normal(size=(3, 1, 1, tokens, size))
    return query * spread, key * spread, value


def error(generator, size, spread, count):
    """The mean relative error over 8 draws of everything."""
    found = []
    for _ in range(8):
        q, k, v = drawn(generator, size, spread)
        ours = linear_attention(q, k, v, orthogonal_directions(generator, count, size))
        reference = exact(q, k, v)
        found.append(np.linalg.norm(ours - reference) / np.linalg.norm(reference))
    return np.mean(found)


@pytest.mark.parametrize(("size", "spread"), [(16, 0.25), (16, 0.5), (64, 0.25)])
def test_the_error_falls_as_the_features_grow(size, spread):
    generator = np.random.default_rng(3)
    errors = [error(generator, size, spread, count) for count in (64, 512, 4096)]
    assert errors[0] > 1.5 * errors[1] > 2.25 * errors[2]
    # What giving all tokens the same weight would cost, in the reference's trials.
    uniform = {(16, 0.25): 0.065, (16, 0.5): 0.207, (64, 0.25): 0.067}[size, spread]
    assert errors[2] < uniform / 2


def test_products_of_features_have_the_exponential_as_their_mean():
    generator = np.random.default_rng(5)
    x, y = generator.normal(size=(2, 1, 1, 1, 16)) * 0.3
    products = []
    for _ in range(2000):
        directions = orthogonal_directions(generator, 16, 16)
        # Without the factor that cancels in attention.
        features = [np.exp(z @ directions.T - (z**2).sum() / 2)[0, 0, 0] / 4 for z in (x, y)]
        products.append(features[0] @ features[1])
    spread = np.std(products) / len(products) ** 0.5
    assert abs(np.mean(products) - np.exp((x * y).sum())) < 4 * spread


def test_features_are_what_the_formula_says():
    generator = np.random.default_rng(7)
    x = generator.normal(size=(2, 3, 5, 4))
    directions = orthogonal_directions(generator, 6, 4)
    exponent = x @ directions.T - (x**2).sum(axis=-1, keepdims=True) / 2
    for over in (-1, (-2, -1)):
        largest = exponent.max(axis=over, keepdims=True)
        expected = (np.exp(exponent - largest) + 1e-6) / 6**0.5
        np.testing.assert_allclose(positive_features(x, directions, over), expected, rtol=1e-12)


@pytest.mark.parametrize("count", [3, 7, 14, 17])
def test_directions_of_a_block_are_orthogonal(count):
    directions = orthogonal_directions(np.random.default_rng(9), count, 7)
    assert directions.shape == (count, 7)
    for start in range(0, count, 7):
        block = directions[start : start + 7]
        gram = block @ block.T
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)
    again = orthogonal_directions(np.random.default_rng(9), count, 7)
    np.testing.assert_array_equal(directions, again)


def test_no_side_is_preferred():
    directions = orthogonal_directions(np.random.default_rng(11), 60_000, 3)
    np.testing.assert_allclose(directions.mean(axis=0), 0, atol=4 / 60_000**0.5)
    np.testing.assert_allclose(directions.T @ directions / 60_000, np.eye(3), atol=0.04)


def test_lengths_are_those_of_normal_vectors():
    directions = orthogonal_directions(np.random.default_rng(11), 4000, 8)
    squares = (directions**2).sum(axis=-1)  # chi-square with 8 degrees: mean 8, variance 16
    assert abs(squares.mean() - 8) < 0.3 and abs(squares.var() - 16) < 2


@pytest.mark.parametrize("kernel", KERNELS)
def test_large_scores_in_half_precision_stay_finite(kernel):
    query, key, value = (8 * x for x in drawn(np.random.default_rng(13), 16, 1.0))
    directions = orthogonal_directions(np.random.default_rng(15), 32, 16)
    half = [ops.cast(x, "bfloat16") for x in (query, key, value)]
    out = linear_attention(*half, ops.cast(directions, "float32"), KERNELS[kernel])
    assert out.dtype == "bfloat16" and np.isfinite(np.asarray(ops.cast(out, "float32"))).all()


@pytest.mark.parametrize("size", [32, 48, 64, 80, 96, 128])
def test_the_usual_number_of_features(size):
    assert default_count(size) == {32: 110, 48: 185, 64: 266, 80: 350, 96: 438, 128: 621}[size]
