"""Whether a model is right as often as it is sure."""

import dataclasses

import numpy as np

BINS = 15  # as Guo et al. take them


@dataclasses.dataclass(frozen=True)
class Bin:
    """The images that a model was about equally sure of.

    Args:
        confidence: mean probability of the answers, 0 to 1.
        accuracy: share of right answers, 0 to 1.
        images: how many images.
    """

    confidence: float
    accuracy: float
    images: int


def reliability(probabilities, labels, bins=BINS):
    """Sorts answers by how sure the model was of them, into bins of equal width.

    A bin has its upper edge and not its lower one.

    Args:
        probabilities: `[n, num_classes]`.
        labels: int `[n]`, the true classes.
        bins: number of bins from 0 to 1.

    Returns:
        A list of `Bin`s from the least sure on, without the empty ones.

    Example:

    >>> import numpy as np
    >>> reliability(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0, 0]), bins=2)
    [Bin(confidence=0.75, accuracy=0.5, images=2)]
    """
    probabilities = np.asarray(probabilities, "float64")
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    place = np.digitize(sure, np.linspace(0, 1, bins + 1)[1:-1], right=True)
    return [
        Bin(float(sure[inside].mean()), float(right[inside].mean()), int(inside.sum()))
        for inside in (place == index for index in np.unique(place))
    ]


def expected_calibration_error(bins):
    """Returns the mean gap between how sure a model was and how often it was right, 0 to 1.

    Args:
        bins: the `Bin`s; each counts by its images.

    Reference:
        Guo et al., *On Calibration of Modern Neural Networks*, 2017, arXiv 1706.04599.

    Example:

    >>> expected_calibration_error([Bin(0.75, 0.5, 3), Bin(1.0, 1.0, 1)])
    0.1875
    """
    gaps = [abs(part.accuracy - part.confidence) * part.images for part in bins]
    return sum(gaps) / sum(part.images for part in bins)
