"""`keras-vit train`."""

from pathlib import Path
from typing import Annotated

import typer

from keras_vit.cli.console import out as console
from keras_vit.cli.data import DATA, DataDir

Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Change a field of the recipe."),
]
Seed = Annotated[int | None, typer.Option(help="Seed of split, order and weights.")]
Fraction = Annotated[float, typer.Option(help="Share of each class that is trained on, in (0, 1].")]
Strategy = Annotated[str, typer.Option(help="Where to train: auto, one, mirrored, workers or tpu.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")]
ResumeIfAny = Annotated[
    bool, typer.Option("--resume-if-any", help="As --resume; start if there is no run in OUT.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what the run would do, and do not train.")
]
ShowGroups = Annotated[
    bool,
    typer.Option("--show-groups", help="List the weights by learning rate and decay, only that."),
]
FindRate = Annotated[
    bool, typer.Option("--find-lr", help="Search a learning rate in 100 steps, and do only that.")
]
Wandb = Annotated[str | None, typer.Option(metavar="PROJECT", help="Also log to Weights & Biases.")]


def train(
    recipe: Annotated[str, typer.Argument(help="Name of a recipe, such as digits.")],
    data: Annotated[str, typer.Argument(help=DATA)],
    out: Annotated[Path, typer.Option(help="Folder for the models and the record.")],
    set_: Changes = None,
    seed: Seed = None,
    fraction: Fraction = 1.0,
    data_dir: DataDir = None,
    strategy: Strategy = "auto",
    resume: Resume = False,
    resume_if_any: ResumeIfAny = False,
    dry_run: DryRun = False,
    show_groups: ShowGroups = False,
    find_lr: FindRate = False,
    wandb: Wandb = None,
):
    """Train a model on your images, videos or pairs of image and text by a recipe."""
    from keras_vit.training import recipe as recipe_named
    from keras_vit.training import train as run
    from keras_vit.training.inputs import inputs_of
    from keras_vit.training.run import has_state

    changes = parse_changes(set_ or [])
    if seed is not None:
        changes["seed"] = seed
    chosen = recipe_named(recipe, changes)
    found = inputs_of(chosen.model).find(data, data_dir)
    if dry_run or show_groups or find_lr:
        look(chosen, found, out, fraction, dry_run, show_groups, find_lr)
        return
    resume = resume or resume_if_any and has_state(out)
    tell(run(chosen, found, out, resume, True, strategy, fraction, wandb))


def look(recipe, data, out, fraction, dry_run, show_groups, find_lr):
    """Shows what is asked for about a run, without training it."""
    from keras_vit.cli import train_plan
    from keras_vit.training.prepared import prepared

    setting = prepared(recipe, data, fraction, tell=console.print)
    if dry_run:
        train_plan.show_plan(setting, out)
    if show_groups:
        train_plan.show_groups(setting)
    if find_lr:
        train_plan.show_rate(setting, out)


def tell(result):
    """Says what came of a run; of several workers the chief does."""
    from keras_vit.training.workers import is_chief

    if not is_chief(result.model.distribute_strategy):
        return
    last, task = result.history[-1] if result.history else {}, result.task
    if f"val_{task.measure}" in last and task.measure != "loss":
        console.print(
            f"{task.title} on {len(result.held_out):,} held-out {result.words}: "
            f"[bold]{100 * last[f'val_{task.measure}']:.1f} %[/]"
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
