"""What `keras-vit train` shows instead of training: the plan, the groups, a learning rate."""

from rich.table import Table
from rich.text import Text

from keras_vit.cli.console import out as console


def show_plan(setting, folder):
    """Prints what a run would do, and draws its schedule and its first batch.

    Args:
        setting: a `Prepared`.
        folder: where the pictures are written.
    """
    from keras_vit.training.plan import draw_plan, plan

    with console.status("counting"):
        found = plan(setting)
        pictures = draw_plan(found, folder)
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, text in rows(found):
        table.add_row(Text(name, style="bold"), text)
    console.print(table)
    console.print(_groups(found.groups))
    console.print(f"Pictures: {pictures[0]}, {pictures[1]}", soft_wrap=True)


def rows(found):
    """Returns the lines of a `Plan` as (name, text)."""
    setting, recipe = found.setting, found.setting.recipe
    count, trained = found.parameters
    images = found.steps * recipe.batch_size
    start = f"from {recipe.weights}" if recipe.weights else "from scratch"
    stop = f", or {recipe.patience} without a better {setting.monitor}" if recipe.patience else ""
    what, names = setting.inputs.words, setting.train.class_names
    classes = f", {len(names)} classes" if names else ""
    return [
        ("model", f"{recipe.model}, {start}, {recipe.precision}"),
        ("parameters", f"{count:,}, of which {trained:,} are trained"),
        (
            what,
            f"{len(setting.train):,} to train, {len(setting.held_out):,} held out{classes}",
        ),
        (
            "steps",
            f"{found.steps:,}: {recipe.epochs} epochs{stop} of {setting.steps:,}, with "
            f"{recipe.batch_size} {what} each; {images:,} {what} in all",
        ),
        (
            "learning rate",
            f"{recipe.learning_rate:g} by {recipe.optimizer}, {recipe.schedule}, after "
            f"{recipe.warmup_epochs:g} epochs of warm-up, to {recipe.min_learning_rate:g}",
        ),
        ("loss", f"{recipe.loss}; the best epoch is told by {setting.monitor}"),
        ("augmentation", ", ".join(map(str, recipe.augment)) or "none"),
        (
            "arithmetic",
            f"{found.forward_flops / 1e9:,.3g} GFLOP each forward, "
            f"{found.training_flops / 1e9:,.3g} in training; "
            f"{found.training_flops * images / 1e15:,.3g} PFLOP in all",
        ),
        ("memory", _memory(found.memory)),
    ]


def _memory(memory):
    from keras_vit.training.report_sections import file_size

    return (
        f"about {file_size(memory.total)} a step on one device: weights "
        f"{file_size(memory.weights)}, gradients {file_size(memory.gradients)}, optimizer "
        f"{file_size(memory.optimizer)}, activations {file_size(memory.activations)}"
    )


def show_groups(setting):
    """Prints the weights that are trained alike, group by group."""
    from keras_vit.training.parameter_groups import parameter_groups

    groups = parameter_groups(setting.model(), setting.recipe)
    console.print(_groups(groups))
    for number, group in enumerate(groups, start=1):
        console.print(f"\n[bold]{number}[/]")
        for path in group.paths:
            console.print(Text(f"  {path}"), soft_wrap=True)


def show_rate(setting, folder):
    """Searches a learning rate, prints it and draws the search.

    Args:
        setting: a `Prepared`.
        folder: where `learning_rate.png` is written.
    """
    from keras_vit.training.plots import draw_curve
    from keras_vit.training.rate_finder import find_rate

    with console.status("searching a learning rate"):
        found = find_rate(setting)
    best = found.suggestion
    path = draw_curve(
        folder / "learning_rate.png",
        found.rates,
        {"loss": found.losses, "smoothed": found.smoothed},
        ("learning rate", "loss"),
        log_x=True,
        mark=None if best is None else (best, f"{best:.1e}"),
    )
    if best is None:
        console.print("The loss fell at no learning rate: look at the images and labels.")
    else:
        console.print(
            f"The loss falls fastest at a learning rate of [bold]{best:.1e}[/]; the recipe has "
            f"{setting.recipe.learning_rate:g}. Try: --set learning_rate={best:.1e}",
            soft_wrap=True,
        )
    console.print(f"Picture: {path}", soft_wrap=True)


def _groups(groups):
    """The groups as a table."""
    table = Table(box=None, pad_edge=False)
    for name in ("group", "learning rate ×", "weight decay", "weights", "parameters"):
        table.add_column(name, justify="right")
    for number, group in enumerate(groups, start=1):
        factor = f"{group.factor:.3g}" if group.factor else "frozen"
        cells = (factor, f"{group.weight_decay:g}", f"{len(group.paths):,}")
        table.add_row(str(number), *cells, f"{group.parameters:,}")
    return table
