"""`keras-vit weights`."""

from typing import Annotated

import typer
from rich.table import Table

from keras_vit.cli.console import out


def weights(
    model: Annotated[
        str, typer.Argument(metavar="[MODEL]", help="Only those for this model.")
    ] = "",
):
    """List the published weights, with licence and ImageNet accuracy."""
    from keras_vit.factory import list_models
    from keras_vit.weights import catalog, list_weights

    rows = [row for row in catalog().values() if model in ("", row.model)]
    if not rows:
        known = ", ".join(name for name in list_models() if list_weights(name))
        raise ValueError(f"There are no published weights for {model!r}. There are for: {known}.")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("weights", "model", "size", "classes", "top-1", "licence", "format"):
        table.add_column(
            column, justify="right" if column in ("size", "classes", "top-1") else "left"
        )
    for row in rows:
        # Without a head, the figure is that of somebody's probe.
        accuracy = f"{row.top1:.1f} %" if row.top1 and row.num_classes else ""
        sizes = (str(row.image_size), str(row.num_classes or ""))
        table.add_row(row.name, row.model, *sizes, accuracy, row.licence, row.source)
    out.print(table)
