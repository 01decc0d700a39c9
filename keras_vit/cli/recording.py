"""Recorded results: a command, what it gave, and where it ran."""

import json
import platform
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

from keras_vit.cli.recorded_speed import draw_growth
from keras_vit.cli.recording_clip import clip
from keras_vit.cli.recording_dinov2 import dinov2_probe
from keras_vit.cli.recording_fit import fit_cost
from keras_vit.cli.recording_kills import kills
from keras_vit.cli.recording_npu import npu
from keras_vit.cli.recording_serving import serving
from keras_vit.cli.recording_speed import growth, speed
from keras_vit.cli.recording_tpu import tpu_b16, tpu_table

FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist")  # Debian: dataset-fashion-mnist


def fashion_mnist(work):
    """Trains `vit_fashion_mnist` and measures the last step's model on the test images."""
    from keras_vit.data import write_fashion_mnist

    data = write_fashion_mnist(FASHION_MNIST, work / "data")
    run, measured = work / "run", work / "evaluation.json"
    resume = ["--resume"] if (run / "states").exists() else []
    train = ["keras-vit", "train", "vit_fashion_mnist", str(data), "--out", str(run), *resume]
    evaluate = ["keras-vit", "evaluate", str(run / "model.keras"), str(data)]
    _run(train)
    _run([*evaluate, "--split", "test", "--json", str(measured)])
    recipe = json.loads((run / "recipe.json").read_text())
    epochs = (run / "history.csv").read_text().splitlines()
    seconds = epochs[0].split(",").index("seconds")
    return {
        "command": " ".join(part for part in train if part != "--resume"),
        "recipe": recipe,
        "images_seen": 60_000 * recipe["epochs"],
        "training_minutes": round(
            sum(float(row.split(",")[seconds]) for row in epochs[1:]) / 60, 1
        ),
        "test_accuracy": json.loads(measured.read_text())["accuracy"],
    }


# name -> function from a work folder to the figures
ROWS = {
    "fashion_mnist": fashion_mnist,
    "clip": partial(clip, source=FASHION_MNIST),
    "dinov2_probe": partial(dinov2_probe, source=FASHION_MNIST),
    "speed": speed,
    "growth": growth,
    "tpu_b16": tpu_b16,
    "tpu_table": tpu_table,
    "kills": kills,
    "serving": serving,
    "fit_cost": fit_cost,
    "npu": npu,
}
# name -> function from the figures and the folder of results to pictures there
PICTURES = {"growth": draw_growth}


def record_row(name, results, work="runs"):
    """Measures a row, writes `results/NAME.json` and draws the pictures that belong to it.

    Args:
        name: one of `ROWS`.
        results: folder for the JSON.
        work: folder for what a row leaves on the way; a row goes on from it when resumed.

    Returns:
        The path written.
    """
    from keras_vit.cli.evaluate import write_json

    figures = ROWS[name](Path(work) / name)
    path = Path(results) / f"{name}.json"
    write_json({"row": name, **figures, "machine": machine()}, path)
    if name in PICTURES:
        PICTURES[name](figures, path.parent)
    return path


def machine():
    """Returns what a measurement depends on: processor, cores and versions."""
    import os

    names = ("keras", "tensorflow", "numpy")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in names},
    }


def _processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _run(command):
    """Runs a `keras-vit` command of this very environment."""
    code = "import sys; from keras_vit.cli.main import main; sys.argv[0] = 'keras-vit'; main()"
    subprocess.run([sys.executable, "-c", code, *command[1:]], check=True)
