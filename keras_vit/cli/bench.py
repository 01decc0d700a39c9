"""`keras-vit bench`."""

import os
import platform
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
