"""`keras-vit check-served`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from keras_vit.cli.console import out as console


def check_served(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="NAME/<version>, or NAME for its newest version.")
    ],
):
    """Prove that an export for a server is whole, and computes what its model does."""
    from keras_vit.export.serving.check import check

    with console.status("checking"):
        found = check(folder)
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, detail in found.items():
        table.add_row("[green]✓[/]", name, detail)
    console.print(table)
