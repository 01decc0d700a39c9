"""Figures as SVG text."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from keras_vit.training.figures import COLOURS, confusion_matrix, curve

SERIES = {"training": [0.3, 0.6, 0.8], "held out": [0.2, 0.7, 0.79]}


def texts(svg):
    return ["".join(node.itertext()).strip() for node in ElementTree.fromstring(svg).iter()
            if node.tag.endswith("}text")]  # fmt: skip


def test_a_curve_names_its_lines_and_takes_its_colours_from_the_page():
    svg = curve([1, 2, 3], SERIES, "Accuracy", percent=True)
    assert {"training", "held out", "Accuracy", "epoch"} <= set(texts(svg))
    assert any(text.endswith("%") for text in texts(svg))
    assert "var(--good)" in svg and "var(--muted)" in svg
    assert not any(stand_in in svg for stand_in in COLOURS)


def test_a_figure_fills_the_width_it_gets_and_needs_no_font_file():
    svg = curve([1, 2], {"held out": [1.0, 0.5]}, "Loss")
    head = svg[: svg.index(">")]
    assert "viewBox" in head
    assert not re.search(r"\b(width|height)=", head)
    assert "DejaVu" not in svg


def test_figures_are_the_same_each_time_and_share_no_id():
    first, again = (curve([1, 2, 3], SERIES, "Accuracy") for _ in range(2))
    other = curve([1, 2, 3], SERIES, "Loss")
    assert first == again
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (first, other)]
    assert ids[0] and not ids[0] & ids[1]
    used = set(re.findall(r"url\(#([^)]+)\)", first))
    assert used <= ids[0]


def test_a_confusion_matrix_shows_counts_and_names():
    svg = confusion_matrix([[7, 2], [0, 11]], ["cat", "dög & co"])
    assert {"7", "2", "11", "cat", "dög & co", "true", "predicted"} <= set(texts(svg))
    assert "0" not in texts(svg)
    assert "var(--bad)" in svg


@pytest.mark.parametrize("size", [1, 23])
def test_a_confusion_matrix_of_any_size(size):
    svg = confusion_matrix(np.eye(size, dtype=int), [f"class {i}" for i in range(size)])
    assert ("class 0" in texts(svg)) == (size == 1)
