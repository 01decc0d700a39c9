"""The pictures that a model finds most alike."""

import numpy as np


def nearest(queries, features, count):
    """Returns the nearest vectors by the cosine of the angle between them.

    Args:
        queries: `[m, width]`.
        features: `[n, width]`.
        count: how many to return; all, where there are fewer.

    Returns:
        (indices, cosines), each `[m, count]`, the nearest first. A vector of zeros has cosine 0
        with all.

    Raises:
        ValueError: for a count below 1, or vectors of another width.

    Example:

    >>> import numpy as np
    >>> indices, cosines = nearest(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [2.0, 0.0]]), 1)
    >>> indices.tolist(), cosines.tolist()
    ([[1]], [[1.0]])
    """
    if count < 1:
        raise ValueError(f"`count` must be at least 1. Received: {count}.")
    queries, features = _unit(queries), _unit(features)
    if queries.shape[1] != features.shape[1]:
        raise ValueError(
            "`queries` and `features` must be of one width. "
            f"Received: {queries.shape[1]} and {features.shape[1]}."
        )
    cosines = queries @ features.T
    indices = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return indices, np.take_along_axis(cosines, indices, axis=1)


def _unit(vectors):
    vectors = np.asarray(vectors, "float64")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
