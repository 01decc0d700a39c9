"""The table of `keras_vit.export.parity` as a page in one file."""

import datetime
from html import escape
from pathlib import Path
from string import Template

from keras_vit.files import replacing
from keras_vit.version import __version__

TEMPLATE = Path(__file__).with_name("parity.html")


def write_page(path, title, rows, images):
    """Writes the page.

    Args:
        path: the file.
        title: its heading.
        rows: `Row`s.
        images: how many images were compared.
    """
    ran = [row for row in rows if row.reason is None]
    slowest = max(row.milliseconds for row in ran)
    text = Template(TEMPLATE.read_text("utf-8")).substitute(
        title=escape(title),
        summary=f"{images} pictures, one at a time, through {len(ran)} formats.",
        rows="\n".join(_row(row, slowest) for row in ran),
        refused="\n".join(
            f"<li><strong>{escape(row.name)}</strong>: {escape(row.reason)}</li>"
            for row in rows
            if row.reason is not None
        ),
        hidden="" if len(ran) < len(rows) else "hidden",
        footer=f"Measured by keras_vit {__version__} on {datetime.date.today():%d %B %Y}.",
    )
    with replacing(path) as temporary:
        temporary.write_text(text, "utf-8")


def _row(row, slowest):
    accuracy = "–" if row.accuracy is None else f"{100 * row.accuracy:.1f} %"
    width = 100 * row.milliseconds / slowest
    cells = (
        f"{100 * row.top1:.1f} %",
        f"{row.difference:.2g}",
        accuracy,
        f'<i style="width:{width:.1f}%"></i><span>{row.milliseconds:.2f}</span>',
        f"{row.size_bytes / 1e6:,.2f}",
    )
    return f"<tr><th>{escape(row.name)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
