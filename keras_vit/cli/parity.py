"""`keras-vit parity`."""

import dataclasses
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from keras_vit.cli.console import out
from keras_vit.cli.data import DATA, DataDir


def parity(
    model: Annotated[Path, typer.Argument(help="A .keras file, or a registered name.")],
    data: Annotated[str, typer.Argument(help=DATA)],
    formats: Annotated[
        str, typer.Option(metavar="NAMES", help="Such as cpu,npu,onnx; all of them by default.")
    ] = "",
    images: Annotated[int, typer.Option(min=1, help="How many images to compare.")] = 64,
    keep: Annotated[
        Path | None, typer.Option(help="A folder to leave the exported files in.")
    ] = None,
    json_: Annotated[
        Path | None, typer.Option("--json", help="Also write the numbers to this file.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page to this file.")] = None,
    data_dir: DataDir = None,
):
    """Run the same pictures through every format of a model, and compare with the model."""
    from keras_vit.cli.evaluate import write_json
    from keras_vit.cli.opening import open_keras
    from keras_vit.data import find_data
    from keras_vit.export import parity as run
    from keras_vit.export.parity_page import write_page

    network = open_keras(model)
    records = find_data(data, data_dir).open_for_training()
    names = [name.strip() for name in formats.split(",") if name.strip()] or list(run.FORMATS)
    with tempfile.TemporaryDirectory() as folder, out.status("keras") as status:
        told = lambda name: status.update(name)  # noqa: E731
        rows = run.parity(network, records, keep or folder, names, images, told)
    count = min(images, len(records))
    show(rows, count)
    if json_:
        found = [dataclasses.asdict(row) for row in rows]
        write_json({"model": str(model), "data": data, "images": count, "formats": found}, json_)
    if html:
        write_page(html, f"{network.name} in every format", rows, count)


def show(rows, count):
    """Prints the table, and below it what did not run."""
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for column in ("same class", "largest difference", "accuracy", "ms an image", "MB"):
        table.add_column(column, justify="right")
    for row in rows:
        if row.reason is None:
            accuracy = "" if row.accuracy is None else f"{100 * row.accuracy:.1f} %"
            table.add_row(
                row.name,
                f"{100 * row.top1:.1f} %",
                f"{row.difference:.2g}",
                accuracy,
                f"{row.milliseconds:.2f}",
                f"{row.size_bytes / 1e6:,.2f}",
            )
    out.print(table)
    out.print(f"{count} images, one at a time.")
    for row in rows:
        if row.reason is not None:
            out.print(f"[dim]{row.name}: {escape(row.reason)}[/]", soft_wrap=True)
