"""Recorded results: a command, what it gave, and where it ran."""

import platform
from functools import partial
from importlib.metadata import version
from pathlib import Path

from keras_vit.cli.recorded_speed import draw_growth
from keras_vit.cli.recording_clip import clip
from keras_vit.cli.recording_comparison import comparison, draw_comparison
from keras_vit.cli.recording_detection import detection
from keras_vit.cli.recording_dinov2 import dinov2_probe
from keras_vit.cli.recording_distillation import distillation
from keras_vit.cli.recording_dynamic import dynamic
from keras_vit.cli.recording_fashion import STRONG, from_scratch, upon_dinov2
from keras_vit.cli.recording_fit import fit_cost
from keras_vit.cli.recording_int8 import int8
from keras_vit.cli.recording_kills import kills
from keras_vit.cli.recording_mae import mae
from keras_vit.cli.recording_motion import motion
from keras_vit.cli.recording_npu import npu
from keras_vit.cli.recording_performer import draw_performer, performer
from keras_vit.cli.recording_serving import serving
from keras_vit.cli.recording_speed import growth, relatives, speed
from keras_vit.cli.recording_tpu import tpu_b16, tpu_table

FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist")  # Debian: dataset-fashion-mnist


# name -> function from a work folder to the figures
ROWS = {
    "fashion_mnist": partial(from_scratch, source=FASHION_MNIST),
    "fashion_mnist_strong": partial(from_scratch, source=FASHION_MNIST, changes=STRONG),
    "dinov2_blocks": partial(upon_dinov2, source=FASHION_MNIST),
    "clip": partial(clip, source=FASHION_MNIST),
    "dynamic": partial(dynamic, source=FASHION_MNIST),
    "distillation": partial(distillation, source=FASHION_MNIST),
    "detection": partial(detection, source=FASHION_MNIST),
    "dinov2_probe": partial(dinov2_probe, source=FASHION_MNIST),
    "speed": speed,
    "growth": growth,
    "relatives": relatives,
    "tpu_b16": tpu_b16,
    "tpu_table": tpu_table,
    "kills": kills,
    "serving": serving,
    "fit_cost": fit_cost,
    "npu": npu,
    "int8": partial(int8, source=FASHION_MNIST),
    "mae": partial(mae, source=FASHION_MNIST),
    "motion": partial(motion, source=FASHION_MNIST),
    "performer": performer,
    "comparison": partial(comparison, source=FASHION_MNIST),
}
# name -> function from the figures and the folder of results to pictures there
PICTURES = {
    "growth": draw_growth,
    "performer": draw_performer,
    "comparison": draw_comparison,
}


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
