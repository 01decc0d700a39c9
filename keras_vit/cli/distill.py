"""`keras-vit distill`: train a student by a teacher."""

from pathlib import Path
from typing import Annotated

import typer

from keras_vit.cli import train as training

Weight = Annotated[
    float | None, typer.Option(min=0, max=1, help="Share of the teacher in the loss.")
]
Range = Annotated[
    str | None,
    typer.Option(
        metavar="RANGE",
        help="Pixels of a teacher that does not say: 0..255, 0..1, -1..1 or imagenet.",
    ),
]
Logits = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.npz", help="Ask the teacher once about each image, and keep its answers here."
    ),
]


def distill(
    teacher: Annotated[Path, typer.Argument(help="A .keras file: any Keras classifier.")],
    data: Annotated[str, typer.Argument(help=training.DATA)],
    out: Annotated[Path, typer.Option(help="Folder for the student and the record.")],
    student: Annotated[str, typer.Option(metavar="MODEL", help="What learns.")] = "deit_ti16",
    recipe: Annotated[str, typer.Option(help="How it learns.")] = "deit_distilled",
    loss: Annotated[str, typer.Option(help="hard or soft.")] = "hard",
    weight: Weight = None,
    temperature: Annotated[float | None, typer.Option(help="Of the soft loss.")] = None,
    teacher_range: Range = None,
    logits: Logits = None,
    set_: training.Changes = None,
    seed: training.Seed = None,
    fraction: training.Fraction = 1.0,
    data_dir: training.DataDir = None,
    strategy: training.Strategy = "auto",
    resume: training.Resume = False,
    resume_if_any: training.ResumeIfAny = False,
    dry_run: training.DryRun = False,
    wandb: training.Wandb = None,
):
    """Train a student by a teacher: any Keras classifier of the same classes.

    As `train RECIPE DATA --set distillation.teacher=TEACHER`; the student is written alone.
    """
    said = {
        "teacher": str(teacher),
        "loss": loss,
        "weight": weight,
        "temperature": temperature,
        "range": teacher_range,
        "logits": logits and str(logits),
    }
    changes = [f"model={student!r}", *(set_ or [])]
    changes += [f"distillation.{k}={v!r}" for k, v in said.items() if v is not None]
    options = data_dir, strategy, resume, resume_if_any, dry_run
    training.train(recipe, data, out, changes, seed, fraction, *options, wandb=wandb)
