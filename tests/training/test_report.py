"""`report.html` as a whole."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from keras_vit.training.report import Format, Report, Sample, page, write_report

NAMES = ("cat", "dog", "<b>emu</b>")


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(3)
    pictures = rng.integers(0, 256, (7, 8, 8, 1))
    return Report(
        "A & B",
        labels=[0, 0, 1, 1, 2, 2, 2],
        predictions=[0, 1, 1, 1, 2, 2, 0],
        class_names=NAMES,
        history=[
            {"epoch": i, "loss": 1 / i, "accuracy": 0.5, "val_loss": 1.0, "val_accuracy": 0.6}
            for i in (1, 2)
        ],
        pictures=pictures,
        samples=[
            Sample(pictures[0], "cat", [("cat", 0.9), ("dog", 0.1)], np.eye(2)),
            Sample(pictures[1], "cat", [("dog", 0.6), ("cat", 0.4)]),
        ],
        formats=[
            Format("Keras", 5 / 7, size=2000, milliseconds=3.0, agreement=1.0),
            Format("TFLite", 5 / 7, note="phones", size=1000, milliseconds=0.5, agreement=6 / 7),
            Format("Logistic regression", 4 / 7),
        ],
        facts={"Parameters": "1,234"},
        footer="Made <here>.",
    )


class Tags(HTMLParser):
    """Checks that tags are closed in order, and gathers links."""

    VOID = {"meta", "img", "image", "rect", "path", "use", "br", "link", "stop"}

    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_from_outside(report):
    text = page(report)
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    assert tags.links
    assert all(link.startswith(("data:image/png;base64,", "#")) for link in tags.links)
    assert "@import" not in text and "<script" not in text
    assert not re.search(r"url\((?!#)", text)
    assert not re.search(r"\$\w", text)


def test_the_page_tells_what_was_found(report):
    text = page(report)
    for expected in (
        "71.4",
        "7 images it had never seen",
        "2 mistakes",
        "What it looks at",
        "And where it fails",
        "What it ships as",
        "How it learned",
        "What it mixes up",
        "85.7 %",
        "1.0 kB",
        "A &amp; B",
        "&lt;b&gt;emu&lt;/b&gt;",
        "Made &lt;here&gt;.",
    ):
        assert expected in text
    assert "<b>emu" not in text


def test_parts_without_data_are_left_out(report):
    text = page(Report("Bare", [0, 1], [0, 1], NAMES))
    assert "not one mistake" in text
    assert "No mistakes" in text
    for absent in ("What it looks at", "What it ships as", "How it learned", "<img"):
        assert absent not in text


def test_the_file_is_written_with_its_folder(report, tmp_path):
    path = write_report(report, tmp_path / "new" / "report.html")
    assert path.read_text("utf-8") == page(report)
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
