"""`report.html`: a training run on one page, in one file."""

import dataclasses
from pathlib import Path
from string import Template

import numpy as np

from keras_vit.files import replacing
from keras_vit.training import report_sections as sections
from keras_vit.training.pictures import wall

TEMPLATE = Path(__file__).with_name("report.html")


@dataclasses.dataclass(frozen=True)
class Format:
    """A row of the table of formats.

    Args:
        name: what it is, such as `"TFLite int8"`.
        accuracy: share of the held-out images, 0 to 1.
        note: what it is for, or None.
        size: bytes of the file or folder, or None.
        milliseconds: per image, one at a time, or None.
        agreement: share of the held-out images on which it answers as the Keras model does, 0
            to 1; None for something else than the model.
    """

    name: str
    accuracy: float
    note: str | None = None
    size: int | None = None
    milliseconds: float | None = None
    agreement: float | None = None


@dataclasses.dataclass(frozen=True)
class Sample:
    """One picture and what the model said.

    Args:
        picture: `[h, w]` or `[h, w, c]`, 0 to 255.
        truth: its class.
        answers: (class, probability) from the likeliest on.
        heat: attention `[rows, columns]`, or None.
    """

    picture: np.ndarray
    truth: str
    answers: list
    heat: np.ndarray | None = None

    @property
    def right(self):
        """Whether the likeliest class is the true one."""
        return self.answers[0][0] == self.truth


@dataclasses.dataclass(frozen=True)
class Report:
    """All that the page shows; a part that is empty is left out.

    Args:
        title: what was trained on what.
        labels: the true classes of the held-out images, int `[n]`.
        predictions: the predicted classes, int `[n]`.
        class_names: names of the classes.
        history: one dict an epoch, with `epoch`, `loss`, `accuracy`, `val_loss`,
            `val_accuracy`.
        pictures: the held-out images for the wall, `n` arrays of one size, or empty.
        samples: `Sample`s; the right ones and the mistakes are shown apart.
        formats: `Format`s.
        classes: `Evaluation.per_class`.
        facts: dict of label to text, shown under the accuracy.
        footer: how the page came to be.
    """

    title: str
    labels: np.ndarray
    predictions: np.ndarray
    class_names: tuple
    history: list = ()
    pictures: list = ()
    samples: list = ()
    formats: list = ()
    classes: list = ()
    facts: dict = dataclasses.field(default_factory=dict)
    footer: str = ""

    @property
    def accuracy(self):
        """Share of right answers, 0 to 1."""
        return float(np.mean(np.asarray(self.labels) == np.asarray(self.predictions)))


def write_report(report, path):
    """Writes a `Report` as one HTML file that needs nothing else.

    Args:
        report: a `Report`.
        path: the file to write.

    Returns:
        The path.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        Path(temporary).write_text(page(report), "utf-8")
    return path


def page(report):
    """Returns the HTML of a `Report`."""
    text = sections.text
    number = f"{100 * report.accuracy:.1f}"
    small = report.samples and max(np.shape(report.samples[0].picture)[:2]) < 64
    return Template(TEMPLATE.read_text("utf-8")).substitute(
        title=text(report.title),
        number=number,
        accuracy=f"{number} %",
        summary=sections.summary(report),
        facts=sections.facts(report.facts),
        wall=wall(report.pictures, report.labels, report.predictions, report.class_names)
        if len(report.pictures)
        else "",
        wall_caption=sections.wall_caption(report) if len(report.pictures) else "",
        rendering="pixelated" if small else "auto",
        sections="\n".join(sections.all_sections(report)),
        footer=text(report.footer),
    )
