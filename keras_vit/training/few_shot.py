"""Few-shot linear regression: how far a few labels a class go, in closed form."""

import numpy as np

SHOTS = (1, 5, 10, 25)
PENALTIES = tuple(2.0**power for power in range(-10, 21))
SEEDS = 3
BIAS = 100.0  # so large a constant feature is hardly held back by the penalty
EPSILON = 1e-5  # a feature that is the same in all images is not divided by 0


def few_shot(
    features, labels, queries, truth, shots=SHOTS, penalties=PENALTIES, seeds=range(SEEDS)
):
    """Measures linear regression from a few images a class, as big_vision does.

    Features are standardised by the chosen images; targets are 1 for the class and -1 for the
    others; the answer is the class of the largest output.

    Args:
        features: `[n, width]`, to choose from.
        labels: int `[n]`.
        queries: `[m, width]`, to measure on.
        truth: int `[m]`.
        shots: numbers of images a class; all of it, where a class has fewer.
        penalties: what the square of the weights is multiplied by, each tried.
        seeds: each draws other images; the accuracies are averaged.

    Returns:
        A dict from the number of shots to a dict from penalty to accuracy, 0 to 1.

    Reference:
        big_vision, `evaluators/fewshot_lsr.py`; there the penalty is 2**10 in most runs.
    """
    features, queries = np.asarray(features, "float64"), np.asarray(queries, "float64")
    labels, truth = np.asarray(labels), np.asarray(truth)
    classes = np.unique(labels)
    found = {}
    for count in shots:
        accuracies = []
        for seed in seeds:
            chosen = _chosen(labels, classes, count, seed)
            train, test = standardised(features[chosen], queries)
            targets = np.where(labels[chosen][:, None] == classes, 1.0, -1.0)
            answers = [classes[(test @ w).argmax(axis=1)] for w in ridge(train, targets, penalties)]
            accuracies.append([np.mean(answer == truth) for answer in answers])
        means = np.mean(accuracies, axis=0)
        found[count] = dict(zip(penalties, means.tolist(), strict=True))
    return found


def best(accuracies):
    """Returns (penalty, accuracy) of the best penalty, the smaller one of two.

    It is chosen on the images that are measured, so the accuracy is a little too good.

    Args:
        accuracies: dict from penalty to accuracy.
    """
    return max(accuracies.items(), key=lambda item: (item[1], -item[0]))


def ridge(features, targets, penalties):
    """Solves least squares with a penalty on the squares of the weights.

    One decomposition serves all penalties, and more features than examples.

    Args:
        features: `[n, width]`.
        targets: `[n, outputs]`.
        penalties: numbers more than 0.

    Returns:
        For each penalty the weights `[width, outputs]` that make
        `|features @ w - targets|^2 + penalty * |w|^2` least.

    Example:

    >>> ridge(np.array([[2.0]]), np.array([[4.0]]), [4.0])[0].round(6).tolist()
    [[1.0]]
    """
    left, values, right = np.linalg.svd(features, full_matrices=False)
    projected = left.T @ targets
    return [
        right.T @ ((values / (values**2 + penalty))[:, None] * projected) for penalty in penalties
    ]


def standardised(features, queries):
    """Returns both with mean 0 and deviation 1 by the first, and a constant feature beside."""
    mean, deviation = features.mean(axis=0), features.std(axis=0) + EPSILON
    return [
        np.pad((x - mean) / deviation, ((0, 0), (0, 1)), constant_values=BIAS)
        for x in (features, queries)
    ]


def _chosen(labels, classes, count, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.permutation(np.flatnonzero(labels == label))[:count] for label in classes]
    )
