"""Figures as SVG text for a page in light and dark colours.

The colours are drawn as stand-ins and written as the page's CSS variables, so that one figure
follows the reader's colour scheme; the letters stay text, in the page's own font.
"""

import io
import re

import numpy as np

# Stand-in colour -> CSS variable of the page.
COLOURS = {
    "#010101": "var(--ink)",
    "#020202": "var(--muted)",
    "#030303": "var(--line)",
    "#040404": "var(--good)",
    "#050505": "var(--bad)",
    "#060606": "var(--on-fill)",
}
INK, MUTED, LINE, GOOD, BAD, ON_FILL = COLOURS

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "keras_vit",  # the same figure twice is the same text
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
}
# With more classes than this the counts and names would be too small to read.
READABLE_CLASSES = 20


def curve(epochs, series, label, percent=False):
    """Draws values over epochs, each line named at its end.

    Args:
        epochs: the numbers of the epochs, `[n]`.
        series: dict of name to values `[n]`; the last is drawn strongest.
        label: what the values are, as the figure's title.
        percent: whether values from 0 to 1 are shown as percentages.

    Returns:
        SVG text.
    """
    with _axes(width=4.9, height=3.0) as axes:
        colours = [MUTED, GOOD][-len(series) :]
        for values, colour in zip(series.values(), colours, strict=True):
            values = 100 * np.asarray(values) if percent else np.asarray(values)
            axes.plot(epochs, values, color=colour)
            axes.plot(epochs[-1:], values[-1:], "o", color=colour, markersize=4)
        _name_line_ends(axes, series, colours, epochs[-1])
        axes.set_title(label, loc="left", fontsize=10.5, color=INK, pad=10)
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
        if percent:
            axes.yaxis.set_major_formatter("{x:g} %")
        axes.margins(x=0.01, y=0.08)
        return _svg(axes, f"{label} over {len(epochs)} epochs")


def confusion_matrix(confusion, class_names):
    """Draws how often each class (row) was taken for each class (column).

    Args:
        confusion: counts `[k, k]`.
        class_names: `k` names; shown, as the counts are, up to `READABLE_CLASSES`.

    Returns:
        SVG text.
    """
    confusion = np.asarray(confusion)
    size = len(confusion)
    with _axes(width=5.2, height=5.2) as axes:
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.set_aspect("equal")
        axes.set(xlim=(0, size), ylim=(size, 0), xlabel="predicted", ylabel="true")
        _draw_cells(axes, confusion)
        if size <= READABLE_CLASSES:
            upright = max(map(len, class_names)) * size < 50
            centres = np.arange(size) + 0.5
            axes.set_xticks(centres, class_names, rotation=0 if upright else 90)
            axes.set_yticks(centres, class_names)
        else:
            axes.set(xticks=[], yticks=[])
        return _svg(axes, "Confusion matrix")


def _draw_cells(axes, confusion):
    from matplotlib.patches import FancyBboxPatch, Rectangle

    size = len(confusion)
    shares = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)
    readable = size <= READABLE_CLASSES
    for row, column in np.argwhere((confusion > 0) | readable):
        share = shares[row, column]
        colour = GOOD if row == column else BAD
        # Few mistakes must show among many right answers: their colour rises by the root.
        alpha = share if row == column else 0.25 + 0.75 * share**0.5
        if not confusion[row, column]:
            colour, alpha = LINE, 0.45
        if readable:
            cell = FancyBboxPatch(
                (column + 0.08, row + 0.08), 0.84, 0.84, "round,pad=0,rounding_size=0.14"
            )
        else:
            cell = Rectangle((column, row), 1, 1)
        cell.set(facecolor=colour, alpha=alpha, linewidth=0)
        axes.add_patch(cell)
        if readable and confusion[row, column]:
            axes.text(
                column + 0.5,
                row + 0.52,
                str(confusion[row, column]),
                ha="center",
                va="center",
                fontsize=max(5.5, 11 - 0.3 * size),
                color=ON_FILL if alpha > 0.75 else INK,
            )


def _name_line_ends(axes, series, colours, last):
    """Writes each line's name right of its end, moved apart where the ends nearly meet."""
    low, high = axes.get_ylim()
    gap = 0.09 * (high - low)
    ends = sorted(
        (line.get_ydata()[-1], name, colour)
        for line, name, colour in zip(axes.lines[::2], series, colours, strict=True)
    )
    at = -np.inf
    for value, name, colour in ends:
        at = max(value, at + gap)
        axes.annotate(
            name,
            (last, at),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
        )


class _axes:
    """Axes of a figure in this module's style, without pyplot: no global state, no display."""

    def __init__(self, width, height):
        self.size = (width, height)

    def __enter__(self):
        import matplotlib
        from matplotlib.figure import Figure

        self.style = matplotlib.rc_context(STYLE)
        self.style.__enter__()
        return Figure(figsize=self.size, layout="tight").subplots()

    def __exit__(self, *error):
        self.style.__exit__(*error)


def _svg(axes, title):
    file = io.StringIO()
    axes.figure.savefig(
        file, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
    )
    text = file.getvalue()
    text = text[text.index("<svg") :]
    for stand_in, variable in COLOURS.items():
        text = text.replace(stand_in, variable)
    # The page's font, and the page's width: the viewBox keeps the shape.
    text = re.sub(r"font: (?:bold )?([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(r"font-family: [^;\"]*;? ?", "", text)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = text.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)
    return _own_ids(text)


def _own_ids(text):
    """Makes the ids of this figure differ from those of the others on the page."""
    import hashlib

    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{mark}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{mark}-\1)", text)
    return re.sub(r'xlink:href="#([^"]+)"', rf'xlink:href="#{mark}-\1"', text)
