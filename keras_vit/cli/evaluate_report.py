"""The page of `keras-vit evaluate --html`: gathers what it shows."""

import datetime

import numpy as np

CLASSES = 10  # of which a right answer is shown


class Pictures:
    """The images as the model gets them, decoded when they are asked for.

    Args:
        records: `Records`.
        preprocessing: the model's.
    """

    def __init__(self, records, preprocessing):
        self.records = records
        self.preprocessing = preprocessing

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        """One image `[h, w, c]` by an integer, or `[n, h, w, c]` by an array of them."""
        from keras_vit.data import decode, fit

        if np.ndim(index):
            return np.stack([self[one] for one in index])
        encoded = self.records.read(index)
        return fit(decode(encoded, self.preprocessing.channels), self.preprocessing).numpy()


def check(records):
    """Checks that the page can show what the images are.

    Raises:
        ValueError: if they have not one class each.
    """
    from keras_vit.data import Classes

    if not isinstance(records.targets, Classes):
        raise ValueError(
            "`--html` shows images of one class each. Received: "
            f"{type(records.targets).__name__}; leave `--html` out."
        )


def write(path, predictor, records, evaluation, title):
    """Writes the page.

    Args:
        path: the file.
        predictor: what was measured.
        records: on what.
        evaluation: the `Evaluation`.
        title: the page's title.
    """
    from keras_vit.training.report import Report, write_report
    from keras_vit.version import __version__

    facts = {
        "Loss": f"{evaluation.loss:.3f}",
        "Calibration error": f"{100 * evaluation.calibration_error:.1f} %",
        "Images a second": f"{evaluation.images_per_second:,.0f}",
        "Size": f"{predictor.size_bytes / 1e6:,.1f} MB",
    }
    if len(evaluation.class_names) > 5:
        facts = {"Top 5": f"{100 * evaluation.top(5):.1f} %", **facts}
    report = Report(
        title,
        evaluation.labels,
        evaluation.predictions,
        evaluation.class_names,
        pictures=Pictures(records, predictor.preprocessing),
        samples=_samples(predictor, records, evaluation),
        classes=evaluation.per_class,
        facts=facts,
        footer=f"Measured by keras_vit {__version__} on {datetime.date.today():%d %B %Y}.",
    )
    return write_report(report, path)


def _samples(predictor, records, evaluation):
    """Right answers of a few classes and the surest mistakes, with what the model looked at.

    None where attention cannot be followed: in exported files, and through windows.
    """
    from keras_vit.cli.quickstart_report import samples
    from keras_vit.explain.blocks import block_names
    from keras_vit.training import Evaluation

    if predictor.kind != "keras":
        return []
    try:
        block_names(predictor.model)
    except ValueError:
        return []
    labels = evaluation.labels
    few = np.isin(labels, np.unique(labels)[:CLASSES])
    chosen = np.flatnonzero(few | (evaluation.predictions != labels))
    part = Evaluation(evaluation.logits[chosen], labels[chosen], evaluation.class_names)
    pictures = Pictures(records.select(chosen), predictor.preprocessing)
    return samples(predictor.model, pictures, part)
