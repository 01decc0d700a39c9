"""From what a detector says of every anchor to a list of things found."""

import dataclasses

import numpy as np

# Below this no box is looked at; two boxes of a class that overlap more are the same thing.
LEAST_SCORE, SAME = 0.05, 0.5
MOST = 100
# So many of the best boxes of a class are compared with each other.
CANDIDATES = 1000


@dataclasses.dataclass(frozen=True)
class Detections:
    """What was found in an image, the surest first.

    Args:
        boxes: float32 `[n, 4]`: left, top, right, bottom in shares of the image, 0 to 1.
        labels: int64 `[n]`, the class of each box.
        scores: float32 `[n]`, the probability of that class.
    """

    boxes: np.ndarray
    labels: np.ndarray
    scores: np.ndarray

    def __len__(self):
        return len(self.scores)

    def above(self, score):
        """Returns those of at least this score."""
        kept = self.scores >= score
        return Detections(self.boxes[kept], self.labels[kept], self.scores[kept])


def detections(boxes, scores, least=LEAST_SCORE, same=SAME, most=MOST):
    """Leaves one box a thing: non-maximum suppression, each class by itself.

    KerasHub's `NonMaxSuppression` is not used: it takes the best class of each anchor and lets any
    box suppress any other, so that a shirt in front of a coat hides it.

    Args:
        boxes: `[n, 4]`, shares of the image.
        scores: `[n, num_classes]`, probabilities.
        least: boxes of a lower score are left out.
        same: of two boxes of a class with a larger intersection over union the surer one stays.
        most: how many boxes are left in all.

    Returns:
        `Detections`.

    Raises:
        ValueError: for thresholds outside [0, 1], or `most` below 1.

    Example:

    >>> boxes = np.array([[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.49], [0.5, 0.5, 1, 1]])
    >>> found = detections(boxes, np.array([[0.75], [0.875], [0.25]]))
    >>> found.scores.tolist(), found.labels.tolist()
    ([0.875, 0.25], [0, 0])
    """
    if not (0 <= least <= 1 and 0 <= same <= 1 and most >= 1):
        raise ValueError(
            "`least` and `same` must be in [0, 1], and `most` at least 1. "
            f"Received: least={least}, same={same}, most={most}."
        )
    found = []
    for label in range(scores.shape[-1]):
        own = scores[:, label]
        order = np.argsort(-own, kind="stable")[:CANDIDATES]
        order = order[own[order] >= least]
        for index in order[_kept(boxes[order], same)][:most]:
            found.append((own[index], label, index))
    found.sort(key=lambda one: -one[0])
    found = found[:most]
    index = np.array([one[2] for one in found], "int64")
    return Detections(
        np.asarray(boxes, "float32")[index].reshape(-1, 4),
        np.array([one[1] for one in found], "int64"),
        np.array([one[0] for one in found], "float32"),
    )


def _kept(boxes, same):
    """Places of the boxes that no earlier one that is kept overlaps with more than `same`."""
    low = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    common = np.prod(np.maximum(high - low, 0), axis=-1)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=-1)
    union = area[:, None] + area[None] - common
    overlaps = common > same * np.maximum(union, 1e-12)
    kept, gone = [], np.zeros(len(boxes), bool)
    for place in range(len(boxes)):
        if not gone[place]:
            kept.append(place)
            gone |= overlaps[place]
    return np.array(kept, "int64")
