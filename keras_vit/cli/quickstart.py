"""The whole road on scikit-learn's digits: the job behind `make quickstart`."""

import dataclasses
import shutil
import time
from pathlib import Path

from keras_vit.cli.console import clear_errors, native_messages_hidden, out

# Profile -> what the table calls it, what it is for, its path in the folder of exports.
EXPORTS = {
    "server": ("SavedModel", "servers", "digits_server"),
    "float32": ("TFLite float32", "any device", "digits_float32.tflite"),
    "cpu": ("TFLite int8 weights", "CPUs and phones", "digits_cpu.tflite"),
    "npu": ("TFLite full int8", "NPUs", "digits_npu.tflite"),
}


def quickstart(folder="build/quickstart", changes=None):
    """Runs the job.

    Args:
        folder: where everything is written; an earlier run there is replaced.
        changes: dict of recipe fields to values, to change the recipe `digits`.

    Returns:
        A list of `Format`s: the Keras model first, logistic regression last.
    """
    from keras_vit.cli.evaluate import write_json
    from keras_vit.cli.quickstart_formats import compare, show
    from keras_vit.cli.quickstart_report import write
    from keras_vit.data import write_digits
    from keras_vit.training import recipe, train

    start, folder = time.perf_counter(), Path(folder)
    _step(1, "scikit-learn's digits as a folder of PNG images")
    data = write_digits(folder / "digits")
    _step(2, "training a small Vision Transformer")
    shutil.rmtree(folder / "run", ignore_errors=True)
    digits = recipe("digits", changes)
    began = time.perf_counter()
    result = train(digits, data, folder / "run")
    trained = time.perf_counter() - began
    _step(3, "exporting")
    paths = export_all(result.model, result.train, folder / "exports")
    _step(4, f"every file on the {len(result.held_out)} held-out images, in its own runtime")
    evaluation, formats, answers = compare(folder / "run" / "model.keras", paths, result)
    report = write(folder / "report.html", result, evaluation, formats, digits, trained)
    show(formats, answers)
    write_json([dataclasses.asdict(row) for row in formats], folder / "results.json")
    out.print(f"Finished in {time.perf_counter() - start:.0f} s. Look at:")
    for name, path in (
        ("report", report),
        ("model", folder / "run" / "model.keras"),
        ("exports", folder / "exports"),
        ("numbers", folder / "results.json"),
    ):
        out.print(f"  {name:8} {path}", soft_wrap=True)
    return formats


def export_all(model, images, folder):
    """Exports a model by every profile of `EXPORTS`.

    Args:
        model: the Keras model.
        images: `Records` to calibrate full int8 with.
        folder: where to.

    Returns:
        A dict of profile to path.
    """
    from keras_vit.export import export

    paths = {}
    for profile, (name, purpose, file) in EXPORTS.items():
        with out.status(f"{name}, for {purpose}"):
            paths[profile] = export(model, profile, folder / file, images)
    return paths


def main():
    """Runs the job as a command; what `training/quickstart.py` calls."""
    import typer

    def run(out: Path = Path("build/quickstart"), debug: bool = False):
        """Train, evaluate and export a small Vision Transformer, and write a report."""
        if debug:
            quickstart(out)
            return
        with clear_errors(), native_messages_hidden():
            quickstart(out)

    typer.run(run)


def _step(number, text):
    out.print(f"\n[bold cyan]{number}[/] {text}")
