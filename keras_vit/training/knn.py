"""Classes by the nearest neighbours, without any training."""

import numpy as np


def knn(features, labels, queries, k=20, temperature=0.07):
    """Returns the class for which the nearest neighbours vote, as DINO is measured.

    Nearness is the cosine; each of the `k` nearest votes for its class with the weight
    `exp(cosine / temperature)`.

    Args:
        features: `[n, width]`, of the images whose classes are known.
        labels: int `[n]`.
        queries: `[m, width]`.
        k: number of neighbours; all, where there are fewer.
        temperature: the smaller, the more the nearest counts.

    Returns:
        int `[m]`.

    Raises:
        ValueError: for values outside these rules.

    Reference:
        Caron et al., *Emerging Properties in Self-Supervised Vision Transformers*, 2021, arXiv
        2104.14294 (k=20, temperature 0.07).

    Example:

    >>> import numpy as np
    >>> knn(np.eye(2), np.array([3, 8]), np.array([[0.1, 0.9]])).tolist()
    [8]
    """
    from sklearn.neighbors import KNeighborsClassifier

    if k < 1 or not temperature > 0:
        raise ValueError(
            "`k` must be at least 1 and `temperature` more than 0. "
            f"Received: k={k}, temperature={temperature}."
        )
    # The distance is 1 - cosine. The factor exp(1 / temperature), left out, would change no vote.
    voters = KNeighborsClassifier(
        min(k, len(features)),
        metric="cosine",
        algorithm="brute",
        weights=lambda distances: np.exp(-distances / temperature),
    )
    return voters.fit(features, labels).predict(queries)
