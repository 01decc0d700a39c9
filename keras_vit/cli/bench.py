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
        str, typer.Option(metavar="NAMES", help="Of timm, timm_compiled, keras_hub, transformers.")
    ] = "",
    reference_python: Annotated[
        Path, typer.Option(help="The Python of an environment that has those packages.")
    ] = Path(sys.executable),
    files: Annotated[
        bool, typer.Option("--files", help="Time exported files beside ONNX Runtime and OpenVINO.")
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show which operations take the time, on a CPU.")
    ] = False,
    beside: Annotated[
        list[Path] | None, typer.Option(help="Of a file: another file to time by turns with it.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each engine, for files.")] = 2,
    warmup: Annotated[int, typer.Option(min=1, help="Calls before the timed ones, of files.")] = 3,
):
    """Measure the speed of a model: inference and, for a Keras model, a training step."""
    from keras_vit.cli.opening import open_any

    predictor = open_any(model, dtype)
    if beside and predictor.kind == "keras":
        raise ValueError(f"`--beside` takes exported files. Received: {model}, a Keras model.")
    tables = _measured(predictor, batch_size, repeats, trace)
    out.print(f"{model}, batches of {batch_size}, on {device()}", soft_wrap=True)
    out.print(*tables)
    if against or files:
        tables = _beside(predictor, batch_size, dtype, against, files, reference_python, repeats)
        for other in tables:
            out.print(other)
    elif predictor.kind in ("tflite", "onnx", "saved_model"):
        from keras_vit.cli.bench_files import files_beside

        for part in files_beside([model, *(beside or ())], threads, warmup, repeats):
            out.print(part, soft_wrap=True)


def _measured(predictor, batch_size, repeats, trace):
    """The table of the model's own speed, and the trace of each call where asked."""
    from keras_vit.cli.bench_trace import trace_table

    table = Table(box=None, pad_edge=False)
    for column in ("", "images/s", "ms a batch", "MFU"):
        table.add_column(column, justify="right" if column else "left")
    traces = []
    for name, call in _calls(predictor, batch_size):
        with out.status(f"{name}: first calls compile"):
            seconds = median_seconds(call, repeats)
        speed, used = f"{batch_size / seconds:,.1f}", _mfu(predictor, name, batch_size, seconds)
        table.add_row(name, speed, f"{1000 * seconds:,.2f}", used)
        if trace:
            traces.append(trace_table(name, call))
    return table, *traces


def _beside(predictor, batch_size, dtype, against, files, python, repeats):
    """Yields the tables of the others, as each is measured."""
    # Not before the work: `keras-vit --help` does not wait for Keras.
    from keras_vit.cli.bench_tables import beside_table, files_table, gpu_table

    if predictor.kind != "keras":
        raise ValueError("`--against` and `--files` take a registered name. Received: a file.")
    config = predictor.model.config
    if against:
        yield beside_table(config, batch_size, dtype, against, python, repeats)
        yield gpu_table(config, against, python, repeats)
    if files:
        yield files_table(config, python, repeats)


def _mfu(predictor, call, batch_size, seconds):
    """The model FLOPs utilisation as text, where model and GPU are known."""
    from keras_vit.cli.bench_against import flops_of
    from keras_vit.cli.gpus import gpu_name, utilisation
    from keras_vit.models import ViTConfig

    config = getattr(getattr(predictor, "model", None), "config", None)
    name = gpu_name()
    if not isinstance(config, ViTConfig) or name is None:
        return ""
    return utilisation(flops_of(config, call, batch_size), seconds, name)


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

    from keras_vit.training.optimizers import adamw

    labels = rng.integers(0, model.output_shape[-1], len(pixels))
    images = model.preprocessing.normalize(pixels)
    model.compile(
        adamw(model, 1e-5),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=not device().startswith("CPU (tensorflow)"),
    )
    return lambda: model.train_on_batch(images, labels)
