"""`keras-vit predict`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from keras_vit.cli.console import bar, out

Clips = Annotated[
    int, typer.Option(min=1, help="Of a video, how many clips to average; for models of clips.")
]


def predict(
    model: Annotated[
        str,
        typer.Argument(
            help="A model's file or folder, or http://HOST:PORT/v1/models/NAME or "
            "grpc://HOST:PORT/NAME of a server."
        ),
    ],
    images: Annotated[
        list[Path], typer.Argument(metavar="IMAGE...", help="Picture files; videos for clips.")
    ],
    top: Annotated[int, typer.Option(min=1, help="How many classes, or boxes, to show.")] = 5,
    clips: Clips = 1,
    out_: Annotated[
        Path | None,
        typer.Option(
            "--out", help="For detectors: a picture to draw the boxes of one image to, or a folder."
        ),
    ] = None,
):
    """Say what is in pictures or videos; of a detector, where."""
    from keras_vit.cli.opening import open_predictor, require_classes
    from keras_vit.cli.predict_boxes import predict_boxes
    from keras_vit.runtime.detector import DetectorPredictor

    predictor = open_predictor(model)
    if isinstance(predictor, DetectorPredictor):
        return predict_boxes(predictor, images, top, out_)
    if out_ is not None:
        raise ValueError(f"`--out` draws boxes, and {model} is no detector. Received: {out_}.")
    require_classes(predictor)
    answers = predictor.predict_files(images, top=top, clips=clips)
    for image, answer in zip(images, answers, strict=True):
        out.print(Text(str(image), style="bold"), soft_wrap=True)
        out.print(answer_table(answer))


def answer_table(answer):
    """A picture's classes and their probabilities as a table."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for index, (name, probability) in enumerate(answer):
        style = "bold cyan" if index == 0 else "dim"
        table.add_row(
            Text(f"  {name}", style=style),
            Text(bar(probability), style=style),
            Text(f"{100 * probability:5.1f} %", style=style),
        )
    return table
