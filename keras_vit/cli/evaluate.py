"""`keras-vit evaluate`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from keras_vit.cli.console import bar, out


def evaluate(
    model: Annotated[Path, typer.Argument(help="A .keras file, SavedModel folder or .tflite.")],
    data: Annotated[str, typer.Argument(help="Folder with a subfolder a class, or tfds:NAME.")],
    split: Annotated[
        str | None, typer.Option(help="Which split of the data; its test split by default.")
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Images a call.")] = 64,
    json_: Annotated[
        Path | None, typer.Option("--json", help="Also write the numbers to this file.")
    ] = None,
):
    """Measure a model on labelled images, in its own runtime."""
    from keras_vit.cli.opening import open_predictor
    from keras_vit.data import available_splits, open_data
    from keras_vit.training import evaluate as run

    predictor = open_predictor(model)
    if split is None and available_splits(data):
        split = "test"
    records = open_data(data, split)
    with out.status(f"{len(records):,} images"):
        result = run(predictor, records, batch_size)
    numbers = summary(result)
    if json_:
        write_json(numbers, json_)
    out.print(_table(numbers))
    top5 = f", top 5 {100 * numbers['top5']:.1f} %" if len(records.class_names) > 5 else ""
    out.print(
        f"{len(records):,} images: accuracy [bold]{100 * numbers['accuracy']:.1f} %[/]{top5}, "
        f"loss {numbers['loss']:.3f}"
    )


def summary(evaluation):
    """Returns an `Evaluation` as plain numbers, ready for JSON.

    Returns:
        A dict: `images`, `accuracy`, `top5`, `loss`, `confusion` (row the true class) and
        `classes`, a list of dicts with `name`, `images`, `recall` and `precision` (None where
        there is nothing to divide by).
    """
    confusion = evaluation.confusion
    right, true, said = confusion.diagonal(), confusion.sum(axis=1), confusion.sum(axis=0)
    return {
        "images": len(evaluation.labels),
        "accuracy": evaluation.accuracy,
        "top5": evaluation.top(5),
        "loss": evaluation.loss,
        "classes": [
            {
                "name": name,
                "images": int(true[i]),
                "recall": float(right[i] / true[i]) if true[i] else None,
                "precision": float(right[i] / said[i]) if said[i] else None,
            }
            for i, name in enumerate(evaluation.class_names)
        ],
        "confusion": confusion.tolist(),
    }


def write_json(numbers, path):
    """Writes a dict as JSON; the file appears whole or not at all."""
    from keras_vit.files import replacing

    with replacing(path) as temporary:
        temporary.write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _table(numbers):
    table = Table(box=None, pad_edge=False)
    table.add_column("class", overflow="fold")
    for name in ("images", "found", "", "correct when said"):
        table.add_column(name, justify="left" if not name else "right")
    for row in numbers["classes"]:
        recall, precision = row["recall"], row["precision"]
        table.add_row(
            row["name"],
            f"{row['images']:,}",
            _percent(recall),
            f"[cyan]{bar(recall or 0.0)}[/]",
            _percent(precision),
        )
    return table


def _percent(share):
    return "–" if share is None else f"{100 * share:.1f} %"
