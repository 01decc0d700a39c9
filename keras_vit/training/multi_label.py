"""How good a model is where an image may have several classes."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class TagEvaluation:
    """What a model answered on images with any number of classes.

    Args:
        logits: float32 `[n, num_classes]`.
        labels: `[n, num_classes]`, 1 where an image has the class, else 0.
        class_names: names of the classes.
        images_per_second: how many images the model did, without reading and decoding them.
    """

    logits: np.ndarray
    labels: np.ndarray
    class_names: tuple
    images_per_second: float | None = None

    @property
    def average_precisions(self):
        """Average precision of each class, `[num_classes]`; nan where no image has it."""
        from sklearn.metrics import average_precision_score

        return np.array(
            [
                average_precision_score(truth, scores) if truth.any() else np.nan
                for truth, scores in zip(self.labels.T, self.logits.T, strict=True)
            ]
        )

    @property
    def mean_average_precision(self):
        """Mean of the classes' average precisions, 0 to 1, over those that an image has."""
        return float(np.nanmean(self.average_precisions))

    def summary(self):
        """Returns plain numbers, ready for JSON.

        Returns:
            A dict: `images`, `mean_average_precision`, `images_per_second` and `classes`, a list
            of dicts with `name`, `images` and `average_precision` (None where no image has it).
        """
        counts = np.asarray(self.labels).sum(axis=0)
        precisions = self.average_precisions
        return {
            "images": len(self.labels),
            "mean_average_precision": float(np.nanmean(precisions)),
            "images_per_second": self.images_per_second,
            "classes": [
                {
                    "name": name,
                    "images": int(count),
                    "average_precision": None if np.isnan(precision) else float(precision),
                }
                for name, count, precision in zip(self.class_names, counts, precisions, strict=True)
            ],
        }
