"""The parts of `report.html`."""

import pytest

from keras_vit.training.report import Format, Report
from keras_vit.training.report_sections import all_sections, file_size, summary


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_949, "99.9 kB"), (99_960, "100 kB"),
     (999_600, "1.0 MB"), (3_400_000_000, "3.4 GB"), (5e15, "5000000 GB")],
)  # fmt: skip
def test_file_sizes(size, text):
    assert file_size(size) == text


@pytest.mark.parametrize(
    ("predictions", "text"),
    [([0, 1], "not one mistake"), ([0, 0], "1 mistake<"), ([1, 0], "2 mistakes")],
)
def test_the_summary_counts_mistakes(predictions, text):
    assert text in summary(Report("", [0, 1], predictions, ("a", "b")))


def test_the_smallest_file_is_marked_once():
    formats = [Format("a", 1.0, size=3), Format("b", 1.0, size=2), Format("c", 0.5)]
    text = "".join(all_sections(Report("", [0], [0], ("x",), formats=formats)))
    assert text.count('class="best"') == 1
    assert text.index('class="best"') < text.index("<b>b</b>") < text.index('class="beside"')


def test_the_most_frequent_mistakes_come_first():
    labels, predictions = [0, 0, 0, 1, 1], [1, 1, 0, 0, 1]
    text = "".join(all_sections(Report("", labels, predictions, ("x", "y"))))
    assert text.index("x taken for y") < text.index("y taken for x")


def test_the_classes_that_do_worst_come_first():
    classes = [
        {"name": name, "images": 3, "recall": f1, "precision": 0.5, "f1": f1}
        for name, f1 in (("good", 0.9), ("bad", 0.1), ("never", None))
    ]
    text = "".join(all_sections(Report("", [0], [0], ("x",), classes=classes)))
    places = [text.index(f"<b>{name}</b>") for name in ("bad", "good", "never")]
    assert places == sorted(places)
    assert "<td>10.0 %</td><td>50.0 %</td><td>10.0 %</td>" in text and "<td>–</td>" in text
