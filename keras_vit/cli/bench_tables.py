"""The tables of `keras-vit bench`: this package beside the others, by turns."""

from rich.table import Table

from keras_vit.cli import bench_against as beside
from keras_vit.cli.console import out
from keras_vit.cli.gpus import gpu_name, utilisation

GPU_BATCHES = (1, 8, 32, 128, 256)


def beside_table(config, batch_size, dtype, against, python, rounds):
    """Returns the table of this model and the others', each in a process of its own.

    Args:
        config: a model's config.
        batch_size: images a call.
        dtype: policy or None.
        against: names as `bench_against.rival_names` takes them.
        python: the interpreter of the rivals' environment.
        rounds: timed calls of each.
    """
    names = beside.rival_names(against)
    settings = beside.settings_of(config, batch_size, dtype)
    beside.check_rivals(names, settings)
    table = new_table(f"by turns, {settings['dtype']}", "images/s", "ours / theirs", "MiB more")
    for call in beside.CALLS:
        with out.status(f"{call} beside {', '.join(names)}: first calls compile"):
            everyone = (beside.OURS, *names, beside.PRODUCT)
            taken = beside.compare(everyone, settings, call, python, rounds)
        ours = taken[beside.OURS]
        for name in (beside.OURS, *names):
            other = taken[name]
            ratio = f"{other.seconds / ours.seconds:.2f}" if name != beside.OURS else ""
            speed = f"{batch_size / other.seconds:,.1f}"
            table.add_row(f"{call}, {name}", speed, ratio, mebibytes(other))
        share = beside.share_of_the_machine(taken, config, call, batch_size)
        table.add_row(f"{call}, of the machine's matrix products", f"{share:.0%}", "", "")
    return table


def files_table(config, python, rounds):
    """Returns the table of this model's files and the others', one image a call.

    Args:
        config, python, rounds: as in `beside_table`.
    """
    settings = beside.settings_of(config, 1, None)
    if "model" in settings:
        raise ValueError(f"`--files` takes plain ViTs. Received: {settings['model']}.")
    table = new_table("exported, one image", "ms", "MiB more")
    ours = {}
    for precision, engines in beside.FILES.items():
        with out.status(f"{precision} in {', '.join(engines)}"):
            taken = beside.compare(engines, settings, precision, python, rounds)
        for name, it in taken.items():
            table.add_row(f"{name}, {precision}", f"{1000 * it.seconds:,.1f}", mebibytes(it))
            if name in beside.HERE:
                ours[f"{name}, {precision}"] = it.seconds
    table.caption = f"the fastest of ours: {min(ours, key=ours.get)}"
    return table


def gpu_table(config, against, python, rounds):
    """Returns the table of a sweep over batches in bfloat16 on the GPU, or says that none is here.

    With XLA for this package; compiled timm is among the rivals where asked for.

    Args:
        config, against, python, rounds: as in `beside_table`.
    """
    gpu = gpu_name()
    if gpu is None:
        return "No GPU here: the sweep over batches on a GPU was not run."
    everyone = (beside.OURS, *beside.rival_names(against))
    table = new_table(f"{gpu}, bfloat16, images/s", *everyone, "MFU")
    for batch_size in GPU_BATCHES:
        settings = beside.settings_of(config, batch_size, "bfloat16")
        taken = beside.compare(everyone, settings, "inference", python, rounds)
        speeds = [f"{batch_size / it.seconds:,.0f}" for it in taken.values()]
        seconds = taken[beside.OURS].seconds
        flops = beside.flops_of(config, "inference", batch_size)
        used = utilisation(flops, seconds, gpu)
        table.add_row(f"inference, {batch_size}", *speeds, used)
    return table


def new_table(title, *columns):
    """Returns an empty table: a column of names, and columns of numbers."""
    table = Table(box=None, pad_edge=False, title=title)
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def mebibytes(taken):
    """Returns by how much a process grew, as text."""
    return "" if taken.growth is None else f"{taken.growth / 2**20:,.0f}"
