"""How far an exported model's logits are from the Keras model's, and how far they may be."""

import dataclasses

import numpy as np

# Share of an image's logit range within which two classes count as a tie. Rounding to 8 bits
# orders such classes by chance, which says nothing about the file.
TIE = 0.05


@dataclasses.dataclass(frozen=True)
class Agreement:
    """Agreement of two arrays of logits.

    Args:
        relative: largest difference, divided by the largest reference value.
        cosine: mean cosine over the images, of logits centred over the classes (adding a number
            to all the logits of an image changes no probability).
        top1: share of the images whose best class is the same, or a tie in the reference.
        images: number of images.
    """

    relative: float
    cosine: float
    top1: float
    images: int


@dataclasses.dataclass(frozen=True)
class Bound:
    """What an artefact must reach to be accepted; None asks for nothing.

    Args:
        relative: upper bound.
        cosine: lower bound.
        top1: lower bound.
    """

    relative: float | None = None
    cosine: float | None = None
    top1: float | None = None

    def broken_by(self, found):
        """Returns a sentence part for each bound that the `Agreement` breaks."""
        broken = []
        if self.relative is not None and not found.relative <= self.relative:
            broken.append(f"relative difference {found.relative:.2g}, at most {self.relative:.2g}")
        if self.cosine is not None and not found.cosine >= self.cosine:
            broken.append(f"mean cosine {found.cosine:.4f}, at least {self.cosine}")
        if self.top1 is not None and not found.top1 >= self.top1:
            broken.append(f"same top class {found.top1:.1%}, at least {self.top1:.0%}")
        return broken


def agreement(reference, logits):
    """Compares logits with a reference.

    Args:
        reference: float array `[b, num_classes]`.
        logits: float array of the same shape.

    Returns:
        An `Agreement`.

    Example:

    >>> agreement(np.array([[0.0, 4.0]]), np.array([[0.0, 3.0]])).relative
    0.25
    """
    reference, logits = np.asarray(reference, "float64"), np.asarray(logits, "float64")
    # A model whose logits are all zero (a new head) is compared as it is.
    scale = np.abs(reference).max() or 1.0
    relative = np.abs(logits - reference).max() / scale
    return Agreement(
        float(relative),
        float(np.mean(_cosines(reference, logits))),
        float(np.mean(_same_best(reference, logits))),
        len(reference),
    )


def _cosines(reference, logits):
    if reference.shape[-1] > 1:
        reference, logits = (x - x.mean(axis=-1, keepdims=True) for x in (reference, logits))
    lengths = np.linalg.norm(reference, axis=-1), np.linalg.norm(logits, axis=-1)
    both = lengths[0] * lengths[1]
    cosine = (reference * logits).sum(axis=-1) / np.where(both == 0, 1, both)
    return np.where((lengths[0] == 0) & (lengths[1] == 0), 1.0, cosine)


def _same_best(reference, logits):
    best = np.take_along_axis(reference, logits.argmax(axis=-1)[:, None], axis=-1)[:, 0]
    low, high = reference.min(axis=-1), reference.max(axis=-1)
    return high - best <= TIE * (high - low)
