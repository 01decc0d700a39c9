"""`keras-vit evaluate`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from keras_vit.cli.console import bar, out
from keras_vit.cli.data import DATA, DataDir
from keras_vit.cli.predict import Clips

HEAD = "head"


Split = Annotated[
    str | None, typer.Option(help="Which split of the data; its test split by default.")
]
By = Annotated[
    str,
    typer.Option(
        help="What answers: the model's head; or, by the features of a Keras model and the "
        "data's training images, knn, few-shot or linear."
    ),
]
Page = Annotated[Path | None, typer.Option(help="Also write a page with pictures to this file.")]
Vocabulary = Annotated[
    Path | None,
    typer.Option(help="CLIP's vocabulary; by default that of the package open_clip_torch."),
]
Clean = Annotated[
    str, typer.Option(help="How CLIP's texts are cleaned: open_clip (by ftfy) or transformers.")
]


def evaluate(
    model: Annotated[Path, typer.Argument(help="A .keras file, SavedModel folder or .tflite.")],
    data: Annotated[str, typer.Argument(help=DATA)],
    split: Split = None,
    batch_size: Annotated[int, typer.Option(help="Images a call.")] = 64,
    by: By = HEAD,
    json_: Annotated[
        Path | None, typer.Option("--json", help="Also write the numbers to this file.")
    ] = None,
    html: Page = None,
    data_dir: DataDir = None,
    clips: Clips = 1,
    vocabulary: Vocabulary = None,
    clean: Clean = "open_clip",
):
    """Measure a model on images with classes or boxes, on videos or pairs, in its own runtime."""
    if by != HEAD and html:
        raise ValueError(f"`--html` shows what a head answers. Received: --by {by}; leave one out.")
    from keras_vit.training.inputs import IMAGES

    if by == HEAD:
        read = clips, vocabulary, clean
        numbers = _by_kind(model, data, data_dir, split, batch_size, html, read)
    else:
        numbers = _by_features(model, IMAGES.find(data, data_dir), split, batch_size, by)
    if json_:
        write_json(numbers, json_)


def _by_kind(model, data, data_dir, split, batch_size, html, read):
    """Measures a model by what it answers, on what it takes; returns the numbers."""
    from keras_vit.cli.evaluate_boxes import evaluate_boxes
    from keras_vit.cli.evaluate_pairs import evaluate_pairs
    from keras_vit.cli.opening import is_clip, open_predictor
    from keras_vit.runtime.detector import DetectorPredictor
    from keras_vit.training.inputs import CLIPS, IMAGES, PAIRS

    predictor, (clips, *texts) = open_predictor(model), read
    if isinstance(predictor, DetectorPredictor):
        _no_page(html, "boxes")
        return evaluate_boxes(predictor, IMAGES.find(data, data_dir), split, batch_size)
    if is_clip(predictor):
        _no_page(html, "pairs")
        found = PAIRS.find(data, data_dir)
        return evaluate_pairs(predictor.model, found, split, batch_size, *texts)
    if predictor.preprocessing.frames:
        _no_page(html, "clips")
        found = CLIPS.find(data, data_dir)
        return _by_head(predictor, found, split, batch_size, None, clips)
    return _by_head(predictor, IMAGES.find(data, data_dir), split, batch_size, html)


def _no_page(html, words):
    if html:
        raise ValueError(
            f"`--html` shows images, and MODEL takes {words}: leave it out. Received: {html}."
        )


def _by_head(predictor, data, split, batch_size, html, clips=1):
    """Measures, prints, writes the page; returns the numbers."""
    from keras_vit.cli.evaluate_report import check, write
    from keras_vit.training import evaluate as run

    if split is None and data.splits:
        split = "test"
    records = data.open(split)
    if html:
        check(records)
    with out.status(f"{len(records):,} images"):
        result = run(predictor, records, batch_size, clips=clips)
        numbers = result.summary()
        if html:
            write(html, predictor, records, result, f"{predictor.path.name} on {data.spec}")
    show = _show_tags if "mean_average_precision" in numbers else _show_classes
    show(numbers, "clips" if predictor.preprocessing.frames else "images")
    return numbers


def _by_features(model, data, split, batch_size, by):
    """Measures and prints; returns the numbers."""
    from keras_vit.cli.opening import open_keras
    from keras_vit.training.feature_evaluation import MEASURES, evaluate_features
    from keras_vit.training.inputs import IMAGES, inputs_of

    if by not in MEASURES:
        raise ValueError(f"`--by` must be one of {HEAD}, {', '.join(MEASURES)}. Received: {by!r}.")
    network = open_keras(model)
    if inputs_of(network) is not IMAGES:
        raise ValueError(
            f"`--by {by}` compares features of images, and {model} takes "
            f"{inputs_of(network).words}: leave it out."
        )
    if split:
        train, test = data.open("train"), data.open(split)
    else:
        train, test = data.open_train_and_held_out(fraction=0.2, seed=0)
    with out.status(f"{len(train) + len(test):,} images"):
        numbers = evaluate_features(network, train, test, by, batch_size)
    for row in numbers.get("shots", ()):
        out.print(
            f"{row['shots']:>3} a class: {_percent(row['accuracy'])} (penalty {row['penalty']:g})"
        )
    out.print(
        f"{numbers['images']:,} images by {by}, from {numbers['train_images']:,}: accuracy "
        f"[bold]{_percent(numbers['accuracy'])}[/]"
    )
    return numbers


def write_json(numbers, path):
    """Writes a dict as JSON; the file appears whole or not at all."""
    from keras_vit.files import replacing

    with replacing(path) as temporary:
        temporary.write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _show_classes(numbers, words):
    rows = [
        (
            row["name"],
            f"{row['images']:,}",
            _percent(row["recall"]),
            _bar(row["recall"]),
            _percent(row["precision"]),
            _percent(row["f1"]),
        )
        for row in numbers["classes"]
    ]
    out.print(_table((words, "found", "", "correct when said", "F1"), rows))
    top5 = f", top 5 {_percent(numbers['top5'])}" if len(numbers["classes"]) > 5 else ""
    out.print(
        f"{numbers['images']:,} {words}: accuracy [bold]{_percent(numbers['accuracy'])}[/]{top5}, "
        f"loss {numbers['loss']:.3f}"
    )
    out.print(
        f"Calibration error {_percent(numbers['calibration_error'])}, "
        f"{numbers['images_per_second']:,.0f} {words} a second"
    )


def _show_tags(numbers, words):
    rows = [
        (
            row["name"],
            f"{row['images']:,}",
            _percent(row["average_precision"]),
            _bar(row["average_precision"]),
        )
        for row in numbers["classes"]
    ]
    out.print(_table((words, "average precision", ""), rows))
    out.print(
        f"{numbers['images']:,} {words}: mAP [bold]{_percent(numbers['mean_average_precision'])}[/]"
        f", {numbers['images_per_second']:,.0f} images a second"
    )


def _table(names, rows):
    table = Table(box=None, pad_edge=False)
    table.add_column("class", overflow="fold")
    for name in names:
        table.add_column(name, justify="right" if name else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _bar(share):
    return f"[cyan]{bar(share or 0.0)}[/]"


def _percent(share):
    return "–" if share is None else f"{100 * share:.1f} %"
