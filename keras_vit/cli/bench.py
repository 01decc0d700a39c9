"""`keras-vit bench`."""

import os
import platform
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from keras_vit.cli.console import out
from keras_vit.cli.timing import median_seconds


def bench(
    model: Annotated[str, typer.Argument(help="A registered name, or a model file or folder.")],
    batch_size: Annotated[int, typer.Option(min=1, help="Images a call.")] = 8,
    dtype: Annotated[
        str | None, typer.Option(help="float32, mixed_bfloat16 or mixed_float16; for a name.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Timed calls; their median counts.")] = 10,
    against: Annotated[
        str, typer.Option(metavar="NAMES", help="Among timm, timm_compiled, keras_hub.")
    ] = "",
    reference_python: Annotated[
        Path, typer.Option(help="The Python of an environment that has those packages.")
    ] = Path(sys.executable),
    files: Annotated[
        bool, typer.Option("--files", help="Time exported files beside ONNX Runtime and OpenVINO.")
    ] = False,
):
    """Measure the speed of a model: inference and, for a Keras model, a training step."""
    from keras_vit.cli.opening import open_any

    predictor = open_any(model, dtype)
    table = Table(box=None, pad_edge=False)
    for column in ("", "images/s", "ms a batch"):
        table.add_column(column, justify="right" if column else "left")
    for name, call in _calls(predictor, batch_size):
        with out.status(f"{name}: first calls compile"):
            seconds = median_seconds(call, repeats)
        table.add_row(name, f"{batch_size / seconds:,.1f}", f"{1000 * seconds:,.2f}")
    out.print(f"{model}, batches of {batch_size}, on {device()}", soft_wrap=True)
    out.print(table)
    if against:
        out.print(_beside(predictor, batch_size, dtype, against, reference_python, repeats))
    if files:
        out.print(_files(predictor, reference_python, repeats))


def _beside(predictor, batch_size, dtype, against, python, rounds):
    """The table of this model and the others', timed by turns, each in a process of its own."""
    from keras_vit.cli import bench_against as beside

    names, config = beside.rival_names(against), _config(predictor)
    settings = beside.settings_of(config, batch_size, dtype)
    table = Table(box=None, pad_edge=False, title=f"by turns, {settings['dtype']}")
    table.add_column("")
    for text in ("images/s", "ours / theirs", "MiB more"):
        table.add_column(text, justify="right")
    for call in beside.CALLS:
        with out.status(f"{call} beside {', '.join(names)}: first calls compile"):
            everyone = (beside.OURS, *names, beside.PRODUCT)
            taken = beside.compare(everyone, settings, call, python, rounds)
        ours = taken[beside.OURS]
        for name in (beside.OURS, *names):
            other = taken[name]
            ratio = f"{other.seconds / ours.seconds:.2f}" if name != beside.OURS else ""
            more = "" if other.growth is None else f"{other.growth / 2**20:,.0f}"
            speed = f"{batch_size / other.seconds:,.1f}"
            table.add_row(f"{call}, {name}", speed, ratio, more)
        share = beside.share_of_the_machine(taken, config, call, batch_size)
        table.add_row(f"{call}, of this machine's matrix products", f"{share:.0%}", "", "")
    return table


def _files(predictor, python, rounds):
    """The table of this model's files and the others', one image a call, by turns."""
    from keras_vit.cli import bench_against as beside

    settings = beside.settings_of(_config(predictor), 1, None)
    table = Table(box=None, pad_edge=False, title="exported, one image")
    table.add_column("")
    for text in ("ms", "MiB more"):
        table.add_column(text, justify="right")
    fastest = {}
    for precision, engines in beside.FILES.items():
        with out.status(f"{precision} in {', '.join(engines)}"):
            taken = beside.compare(engines, settings, precision, python, rounds)
        for name, it in taken.items():
            more = "" if it.growth is None else f"{it.growth / 2**20:,.0f}"
            table.add_row(f"{name}, {precision}", f"{1000 * it.seconds:,.1f}", more)
            if name in beside.HERE:
                fastest[f"{name}, {precision}"] = it.seconds
    table.caption = f"the fastest of ours: {min(fastest, key=fastest.get)}"
    return table


def _config(predictor):
    if predictor.kind != "keras":
        raise ValueError("`--against` and `--files` take a registered name. Received: a file.")
    return predictor.model.config


def device():
    """Returns what Keras's backend computes on, as text."""
    import keras

    kinds = sorted({name.partition(":")[0] for name in keras.distribution.list_devices()})
    text = f"{'+'.join(kinds).upper()} ({keras.backend.backend()})"
    return f"{text}, {os.cpu_count()} cores, {platform.machine()}" if kinds == ["cpu"] else text


def _calls(predictor, batch_size):
    """Yields (name, function) of what is timed, on random pixels."""
    import numpy as np

    preprocessing = predictor.preprocessing
    rng = np.random.default_rng(0)
    shape = (batch_size, *preprocessing.image_size, preprocessing.channels)
    pixels = rng.integers(0, 256, shape).astype("float32")
    yield "inference", lambda: predictor.logits(pixels)
    if predictor.kind == "keras" and len(predictor.model.output_shape) == 2:
        yield "training step", _training_step(predictor.model, pixels, rng)


def _training_step(model, pixels, rng):
    import keras

    labels = rng.integers(0, model.output_shape[-1], len(pixels))
    images = model.preprocessing.normalize(pixels)
    model.compile(
        keras.optimizers.AdamW(1e-5),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=not device().startswith("CPU (tensorflow)"),
    )
    return lambda: model.train_on_batch(images, labels)
