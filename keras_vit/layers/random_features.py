"""Attention in linear time by random features: pure functions.

Choromanski et al., *Rethinking Attention with Performers*, 2020, arXiv 2009.14794 (FAVOR+).
"""

import math

import keras
import numpy as np
from keras import ops

# What keeps a feature from zero, as in the authors' TensorFlow code. At 1e-4, as in their JAX code,
# the error for large scores only saturates.
EPSILON = 1e-6
RELU_EPSILON = 1e-3


def default_count(head_dim):
    """Returns the usual number of features for heads of a size, `d * ln(d)`.

    Example:

    >>> default_count(64)
    266
    """
    return max(1, int(head_dim * math.log(head_dim)))


def orthogonal_directions(generator, count, head_dim):
    """Draws the directions that the features look along.

    Each is distributed as a vector of independent normal numbers, which makes the features
    unbiased; up to `head_dim` of them are orthogonal, which makes their errors cancel.

    Args:
        generator: a `numpy.random.Generator`.
        count: number of features.
        head_dim: size of a head.

    Returns:
        float64 array `[count, head_dim]`.
    """
    blocks = -(-count // head_dim)
    gaussian = generator.normal(size=(blocks, head_dim, head_dim))
    q, r = np.linalg.qr(gaussian)
    # LAPACK's own signs lean to one side, and the error then stops falling at some 5 percent.
    q = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None]
    directions = q.reshape(-1, head_dim)[:count]
    lengths = np.linalg.norm(generator.normal(size=(count, head_dim)), axis=-1)
    return directions * lengths[:, None]


def positive_features(x, directions, over):
    """Returns features whose products have `exp(x · y)` as their mean over the directions.

    Args:
        x: `[b, k, n, d]`.
        directions: `[m, d]`.
        over: the axes that share a factor, by which the largest feature is one: the factor must
            cancel in what is made of the features.

    Returns:
        `[b, k, n, m]`, positive.
    """
    along = ops.matmul(x, ops.transpose(directions))
    exponent = along - ops.sum(ops.square(x), axis=-1, keepdims=True) / 2
    largest = ops.stop_gradient(ops.max(exponent, axis=over, keepdims=True))
    return (ops.exp(exponent - largest) + EPSILON) * directions.shape[0] ** -0.5


def relu_features(x, directions, over):
    """Returns features of another kernel, which do not approach a softmax but train smoothly.

    Args and returns as for `positive_features`; nothing is shared.
    """
    return ops.relu(ops.matmul(x, ops.transpose(directions))) + RELU_EPSILON


def linear_attention(query, key, value, directions, features=positive_features):
    """Returns attention without the matrix of scores: time and memory grow linearly with `n`.

    Args:
        query, key: `[b, k, n, d]`.
        value: `[b, k, n, d]`.
        directions: `[m, d]`, the same for queries and keys.
        features: function as `positive_features`.

    Returns:
        `[b, k, n, d]`, for `positive_features` about `softmax(query · key / sqrt(d)) · value`.
    """
    # The exponential of half precision overflows, and sums over tokens lose their last digits.
    given = value.dtype
    exact = keras.backend.result_type(given, "float32")
    query, key, value, directions = (ops.cast(x, exact) for x in (query, key, value, directions))
    scale = query.shape[-1] ** -0.25
    query = features(query * scale, directions, over=-1)
    key = features(key * scale, directions, over=(-2, -1))
    values = ops.matmul(ops.transpose(key, (0, 1, 3, 2)), value)  # [b, k, m, d]
    weights = ops.sum(key, axis=-2)[..., None]  # [b, k, m, 1]
    return ops.cast(ops.matmul(query, values) / ops.matmul(query, weights), given)


KERNELS = {"exponential": positive_features, "relu": relu_features}
