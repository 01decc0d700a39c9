"""The parts of `report.html`, each from plain data to HTML text."""

import html

import numpy as np

from keras_vit.explain import overlay
from keras_vit.training.figures import confusion_matrix, curve
from keras_vit.training.pictures import WALL, data_uri, enlarged

text = html.escape
SAMPLE_SIDE = 192  # pixels
CLASS_ROWS = 20  # of the table of classes


def summary(report):
    """The sentence beside the big number."""
    labels, predictions = np.asarray(report.labels), np.asarray(report.predictions)
    wrong = int((labels != predictions).sum())
    mistakes = "not one mistake" if not wrong else f"{wrong} mistake{'s' * (wrong > 1)}"
    return (
        f"of <b>{len(labels):,} images it had never seen</b> named correctly, in "
        f"{len(report.class_names)} classes: <b>{mistakes}</b>."
    )


def facts(items):
    """Labels and values in a row."""
    return "".join(
        f"<div><dt>{text(label)}</dt><dd>{text(str(value))}</dd></div>"
        for label, value in items.items()
    )


def wall_caption(report):
    """What the wall of pictures shows."""
    count = len(report.labels)
    shown = "Every held-out image" if count <= WALL else f"{WALL} of {count:,} held-out images"
    return (
        f'<p class="caption">{shown}, sorted by class. '
        '<span class="key" style="background:var(--bad)"></span>ringed: mistakes. '
        "Point at one to see what it was taken for.</p>"
    )


def all_sections(report):
    """Yields the sections that there is data for."""
    if report.samples:
        yield _samples(report.samples)
    if report.formats:
        yield _formats(report.formats)
    if len(report.history) > 1:
        yield _curves(report.history)
    yield _confusion(report)
    if report.classes:
        yield _classes(report.classes)


def _section(title, lead, body):
    return f"<section><h2>{text(title)}</h2><p>{lead}</p>{body}</section>"


def _curves(history):
    epochs = [row["epoch"] for row in history]
    cards = []
    for name, label, percent in (("accuracy", "Accuracy", True), ("loss", "Loss", False)):
        series = {
            shown: [row[key] for row in history]
            for key, shown in ((name, "training"), (f"val_{name}", "held out"))
            if key in history[0]
        }
        if series:
            cards.append(f'<div class="card">{curve(epochs, series, label, percent)}</div>')
    lead = "Once an epoch: on the training images as they were shown, and on the held-out ones."
    return _section("How it learned", lead, f'<div class="pair">{"".join(cards)}</div>')


def _confusion(report):
    size = len(report.class_names)
    pairs = np.asarray(report.labels) * size + np.asarray(report.predictions)
    confusion = np.bincount(pairs, minlength=size * size).reshape(size, size)
    lead = (
        "Each row is a true class, each column the answer given. Mistakes stand off the diagonal."
    )
    body = (
        f'<div class="card confusion">{confusion_matrix(confusion, report.class_names)}'
        f"<div>{_mixups(confusion, report.class_names)}</div></div>"
    )
    return _section("What it mixes up", lead, body)


def _mixups(confusion, class_names, most=6):
    wrong = confusion * ~np.eye(len(confusion), dtype=bool)
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    rows = [
        f"<li><span>{text(class_names[i])} taken for {text(class_names[j])}</span>"
        f"<b>{wrong[i, j]}</b></li>"
        for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True)
        if wrong[i, j]
    ]
    if not rows:
        return "<h3>No mistakes</h3>"
    return f'<h3>Most frequent</h3><ul class="mixups">{"".join(rows)}</ul>'


def _classes(classes):
    """The classes that do worst, by F1."""
    worst = sorted(classes, key=lambda row: 2 if row["f1"] is None else row["f1"])[:CLASS_ROWS]
    columns = ("recall", "precision", "f1")
    rows = "".join(
        f"<tr><td><b>{text(row['name'])}</b></td><td>{row['images']:,}</td>"
        + "".join(
            f"<td>{'–' if row[name] is None else _percent(row[name], 1)}</td>" for name in columns
        )
        + "</tr>"
        for row in worst
    )
    head = "".join(f"<th>{name}</th>" for name in ("Class", "Images", "Recall", "Precision", "F1"))
    lead = (
        "Recall: how many images of the class were found. Precision: how often it was right when "
        "it was said. F1 is between both; the lowest come first."
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return _section("Class by class", lead, f'<div class="card scroll">{table}</div>')


def _samples(samples):
    right = [_sample(sample) for sample in samples if sample.right]
    wrong = [_sample(sample) for sample in samples if not sample.right]
    lead = (
        "Each picture beside its attention rollout: the brighter a part, the more of it reached "
        "the answer."
    )
    body = f'<div class="samples">{"".join(right)}</div>'
    if wrong:
        body += (
            f'<h3 class="gap">And where it fails</h3><div class="samples">{"".join(wrong)}</div>'
        )
    return _section("What it looks at", lead, body)


def _sample(sample):
    picture = enlarged(sample.picture, SAMPLE_SIDE)
    views = [picture] if sample.heat is None else [picture, overlay(picture, sample.heat)]
    shown = "".join(f'<img src="{data_uri(view)}" alt="{text(sample.truth)}">' for view in views)
    name, probability = sample.answers[0]
    answers = "".join(
        f'<div class="answer"><span title="{text(other)}">{text(other)}</span>'
        f"{_bar(share, 'good' if other == sample.truth else 'bad' if i == 0 else '')}"
        f"<span>{_percent(share)}</span></div>"
        for i, (other, share) in enumerate(sample.answers)
    )
    truth = "right" if sample.right else f"it is {text(sample.truth)}"
    return (
        f'<figure class="sample{"" if sample.right else " wrong"}">'
        f'<div class="views">{shown}</div><figcaption class="text">'
        f'<div class="said"><span>{text(name)}</span><span>{_percent(probability)}</span></div>'
        f'<div class="truth">{truth}</div>{answers}</figcaption></figure>'
    )


def _formats(formats):
    sizes = [row.size for row in formats if row.size]
    rows = "".join(
        _format_row(row, max(sizes, default=1), min(sizes, default=0)) for row in formats
    )
    head = "".join(
        f"<th>{name}</th>" for name in ("Format", "Size", "ms / image", "Accuracy", "Agreement")
    )
    lead = (
        "Every file answered all the held-out images in its own runtime. Agreement: how often it "
        "answers as the Keras model does."
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return _section("What it ships as", lead, f'<div class="card scroll">{table}</div>')


def _format_row(row, largest, smallest):
    note = f"<small>{text(row.note)}</small>" if row.note else ""
    size = f"{file_size(row.size)}{_bar(row.size / largest, 'good')}" if row.size else "–"
    speed = f"{row.milliseconds:.2f}" if row.milliseconds is not None else "–"
    agreement = _percent(row.agreement, 1) if row.agreement is not None else "–"
    kind = "best" if row.size == smallest else "" if row.size else "beside"
    return (
        f'<tr class="{kind}"><td><b>{text(row.name)}</b>{note}</td><td>{size}</td>'
        f"<td>{speed}</td><td>{_percent(row.accuracy, 1)}</td><td>{agreement}</td></tr>"
    )


def file_size(size):
    """Returns a number of bytes as text, in units of 1000.

    Example:

    >>> file_size(1234567)
    '1.2 MB'
    """
    units = ["B", "kB", "MB", "GB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return (
        f"{size:.1f} {units[0]}" if units[0] != "B" and size < 99.95 else f"{size:.0f} {units[0]}"
    )


def _percent(share, digits=None):
    """A share as a percentage; without `digits`, whole unless it is close to 0 or 1."""
    if digits is None:
        digits = 0 if 0.0095 <= share <= 0.9905 else 1
    return f"{100 * share:.{digits}f} %"


def _bar(share, kind):
    return f'<span class="bar"><i class="{kind}" style="width:{100 * share:.1f}%"></i></span>'
