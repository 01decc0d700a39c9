"""`keras-vit doctor`."""

import dataclasses
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from keras_vit.cli.console import out
from keras_vit.cli.data import DATA, DataDir


def doctor(
    model: Annotated[Path, typer.Argument(help="A .keras file, or a registered name.")],
    data: Annotated[str, typer.Argument(help=DATA)],
    profile: Annotated[str, typer.Option(help="A profile in integers, such as npu.")] = "npu",
    images: Annotated[int, typer.Option(min=1, help="How many images to run.")] = 64,
    json_: Annotated[
        Path | None, typer.Option("--json", help="Also write the numbers to this file.")
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option(help="Also write Model Explorer's node data to this file.")
    ] = None,
    data_dir: DataDir = None,
):
    """Say where an integer file departs from float: each block, and the worst tensors."""
    from keras_vit.cli.evaluate import write_json
    from keras_vit.cli.opening import open_keras
    from keras_vit.data import find_data
    from keras_vit.export.doctor import diagnose
    from keras_vit.export.doctor import overlay as node_data

    network = open_keras(model)
    records = find_data(data, data_dir).open_for_training()
    with tempfile.TemporaryDirectory() as folder, out.status(f"examining {profile}"):
        found = diagnose(network, profile, records, folder, images)
    show(found)
    if json_:
        write_json(dataclasses.asdict(found), json_)
    if overlay:
        overlay.write_text(node_data(found.tensors), "utf-8")


def show(found):
    """Prints a `Diagnosis`."""
    from keras_vit.export.doctor import blocks, worst

    out.print(f"{found.images} images, float32 beside {found.profile}")
    for name, (share, low, high) in found.shares.items():
        text = f"{name}: {100 * share:.1f} % (95 %: {100 * low:.1f} to {100 * high:.1f})"
        out.print(escape(text), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column, justify in (("block", "left"), ("lowest SNR, dB", "right")):
        table.add_column(column, justify=justify)
    for name, decibels in blocks(found.tensors).items():
        table.add_row(escape(name), f"{decibels:.1f}")
    out.print(table)
    out.print("Whose own range loses most (dB alone, dB with all before):")
    for one in worst(found.tensors):
        out.print(escape(f"  {one.own:5.1f} {one.snr:5.1f}  {one.name}"), soft_wrap=True)
