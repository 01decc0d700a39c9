"""`keras-vit data inspect` and `keras-vit data bench`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from keras_vit.cli.console import bar, out

app = typer.Typer(no_args_is_help=True, help="Look at data, and time its way to a model.")

DATA = "Folder, tfds:NAME, .csv or .jsonl manifest, or TFRecord or ArrayRecord shards."
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", help="Folder of TFDS's data sets, for tfds:NAME. [env: TFDS_DATA_DIR]"
    ),
]
LISTED = 10  # broken files and groups of duplicates that are printed


@app.command()
def inspect(
    data: Annotated[str, typer.Argument(help=DATA)],
    sheet: Annotated[
        Path | None, typer.Option("--out", help="Also draw some pictures of each class: a PNG.")
    ] = None,
    data_dir: DataDir = None,
):
    """Say what is in data: counts, classes, sizes, broken and duplicate files."""
    from keras_vit.data import find_data, scan
    from keras_vit.data.inspection import contact_sheet, duplicates

    parts = find_data(data, data_dir).open_all()
    usable = {}
    for name, records in parts.items():
        with out.status(f"{len(records):,} images"):
            found = scan(records)
        usable[name] = records.select(found.usable)
        _show(name, records, found)
    with out.status("looking for duplicates"):
        groups = duplicates(usable)
    _show_duplicates(groups, usable)
    if sheet is not None:
        contact_sheet(next(iter(usable.values())), sheet)
        out.print(f"Pictures in {sheet}", soft_wrap=True)


@app.command()
def bench(
    data: Annotated[str, typer.Argument(help=DATA)],
    split: Annotated[str | None, typer.Option(help="Which split of the data.")] = None,
    image_size: Annotated[int, typer.Option(help="Side of the model's images, in pixels.")] = 224,
    seconds: Annotated[float, typer.Option(help="How long each line is timed, at a turn.")] = 1.0,
    augment: Annotated[
        list[str] | None, typer.Option(help="Name of an augmentation to time; all by default.")
    ] = None,
    data_dir: DataDir = None,
):
    """Time decoding and augmentation against the bare decoder, on the same files by turns."""
    from keras_vit.cli.data_bench import stages, times
    from keras_vit.data import find_data
    from keras_vit.layers import Preprocessing

    found = find_data(data, data_dir)
    records = found.open(split) if split else found.open_for_training()
    value = Preprocessing(image_size=image_size)
    with out.status(f"{len(records):,} images, {image_size} × {image_size}"):
        plain, augmented = stages(records, value, augment)
        rates = times({**plain, **augmented}, seconds)
    limit = rates["bare decoder"]
    table = Table("", "images/s", "of the bare decoder", box=None, pad_edge=False)
    for name in plain:
        share = rates[name] / limit
        table.add_row(name, f"{rates[name]:,.0f}", f"{100 * share:.0f} %")
    out.print(table)
    base = list(plain)[-1]
    table = Table("augmentation", "ms an image, all cores", box=None, pad_edge=False)
    for name in augmented:
        table.add_row(name, f"{1000 * (1 / rates[name] - 1 / rates[base]):+.2f}")
    out.print(table)


def _show(name, records, found):
    kind = type(records.targets).__name__.lower()
    title = f"{name}: " if name else ""
    out.print(
        f"[bold]{title}{len(records):,} images[/], {kind}, {len(records.class_names)} classes"
    )
    table = Table(box=None, show_header=False, pad_edge=False)
    largest = max(records.class_sizes, default=0)
    for label, count in zip(records.class_names, records.class_sizes, strict=True):
        table.add_row(Text(label), f"{count:,}", f"[cyan]{bar(count / max(largest, 1))}[/]")
    if records.class_names:
        out.print(table)
    sizes = found.sizes[found.usable]
    if len(sizes):
        low, middle, high = (_size(sizes, at) for at in (0, 50, 100))
        out.print(f"Height × width: from {low}, in the middle {middle}, to {high}.")
    out.print(Text(found.summary(LISTED)), soft_wrap=True)


def _size(sizes, percent):
    """The size of the picture whose area is at that place among all."""
    order = sizes.prod(axis=1).argsort(kind="stable")
    height, width = sizes[order[round((len(order) - 1) * percent / 100)]]
    return f"{height} × {width}"


def _show_duplicates(groups, parts):
    if not groups:
        out.print("No two files are the same.")
        return
    files = sum(map(len, groups))
    across = sum(len({part for part, _ in group}) > 1 for group in groups)
    note = f", {across} groups across splits" if across else ""
    out.print(f"{files:,} files are the same as another, in {len(groups):,} groups{note}:")
    for group in groups[:LISTED]:
        names = ", ".join(parts[part].name(index) for part, index in group)
        out.print(Text(f"  {names}"), soft_wrap=True)
    if len(groups) > LISTED:
        out.print(f"  and {len(groups) - LISTED:,} more groups")
