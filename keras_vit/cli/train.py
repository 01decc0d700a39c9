"""`keras-vit train`."""

from pathlib import Path
from typing import Annotated

import typer

from keras_vit.cli.console import out as console
from keras_vit.cli.data import DATA


def train(
    recipe: Annotated[str, typer.Argument(help="Name of a recipe, such as digits.")],
    data: Annotated[str, typer.Argument(help=DATA)],
    out: Annotated[Path, typer.Option(help="Folder for the models and the record.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="Change a field of the recipe."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of split, order and weights.")] = None,
    fraction: Annotated[
        float, typer.Option(help="Share of each class that is trained on, in (0, 1].")
    ] = 1.0,
    strategy: Annotated[
        str, typer.Option(help="Where to train: auto, one, mirrored, workers or tpu.")
    ] = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")] = False,
    resume_if_any: Annotated[
        bool, typer.Option("--resume-if-any", help="As --resume; start if there is no run in OUT.")
    ] = False,
):
    """Train a model on your images by a recipe."""
    from keras_vit.training import recipe as recipe_named
    from keras_vit.training import train as run
    from keras_vit.training.run import has_state
    from keras_vit.training.workers import is_chief

    changes = parse_changes(set_ or [])
    if seed is not None:
        changes["seed"] = seed
    resume = resume or resume_if_any and has_state(out)
    chosen = recipe_named(recipe, changes)
    result = run(chosen, data, out, resume=resume, strategy=strategy, fraction=fraction)
    if not is_chief(result.model.distribute_strategy):
        return
    last = result.history[-1] if result.history else {}
    if "val_accuracy" in last:
        console.print(
            f"Accuracy on {len(result.held_out):,} held-out images: "
            f"[bold]{100 * last['val_accuracy']:.1f} %[/]"
        )
    console.print(f"Written to {result.folder}", soft_wrap=True)


def parse_changes(items):
    """Returns `["field=value", ...]` as a dict of text to text.

    Raises:
        ValueError: for an item without `=`.

    Example:

    >>> parse_changes(["epochs=3", "config.depth=2"])
    {'epochs': '3', 'config.depth': '2'}
    """
    changes = {}
    for item in items:
        field, equals, value = item.partition("=")
        if not field or not equals:
            raise ValueError(f"`--set` must be FIELD=VALUE. Received: {item!r}.")
        changes[field.strip()] = value
    return changes
