"""`keras-vit evaluate` of a detector: COCO's mAP."""

from rich.table import Table
from rich.text import Text

from keras_vit.cli.console import bar, out


def evaluate_boxes(predictor, data, split, batch_size):
    """Measures, prints; returns the numbers.

    Args:
        predictor: a `DetectorPredictor`.
        data: a `Data`, such as of a COCO file.
        split: which split of the data, or None.
        batch_size: images a call.
    """
    from keras_vit.training.box_evaluation import evaluate_boxes as run

    if split is None and data.splits:
        split = "test"
    records = data.open(split)
    with out.status(f"{len(records):,} images"):
        numbers = run(predictor, records, batch_size).summary()
    table = Table(box=None, pad_edge=False)
    for name in ("class", "boxes", "mAP", "", "at 0.5"):
        table.add_column(name, justify="left" if name in ("class", "") else "right")
    for row in numbers["classes"]:
        table.add_row(
            Text(row["name"]),
            f"{row['boxes']:,}",
            _percent(row["mAP"]),
            bar(row["mAP"]),
            _percent(row["mAP50"]),
        )
    out.print(table)
    out.print(
        f"{numbers['images']:,} images, {numbers['boxes']:,} boxes: mAP "
        f"[bold]{_percent(numbers['mAP'])}[/], at an overlap of 0.5 {_percent(numbers['mAP50'])}, "
        f"of 0.75 {_percent(numbers['mAP75'])}"
    )
    return numbers


def _percent(share):
    return f"{100 * share:.1f} %"
