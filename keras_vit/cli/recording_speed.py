"""The recorded speed of this package beside the others, and how its cost grows."""

import dataclasses

from rich.progress import track

from keras_vit.cli import bench_against as beside
from keras_vit.cli.console import err
from keras_vit.cli.once import once
from keras_vit.models import NAMES

HUB = "keras_hub"
# What is timed: model, images a call, dtype, call. The batches are those that fit a small machine.
INFERENCE = [
    *((f"vit_{size}16", batch, "float32") for size in ("ti", "s", "b") for batch in (1, 8, 16)),
    *((f"vit_{size}16", batch, "bfloat16") for size, batch in (("ti", 16), ("s", 8), ("b", 8))),
]
TRAINING = [
    (f"vit_{size}16", batch, dtype)
    for size, batch in (("ti", 16), ("s", 8), ("b", 8))
    for dtype in ("float32", "bfloat16")
]
RELATIVES = {"swin_t": 8, "timesformer_b16": 1}  # with the images, or clips, of a call
STARTED = "vit_b16"
FILES = ("vit_ti16", "vit_b16")
# What grows, from the Ti/16 at 8 images: one of these at a time.
GROWTH = {
    "batch_size": (1, 2, 4, 8, 16, 32),
    "image_size": (96, 144, 224, 320, 448),
    "depth": (3, 6, 12, 24),
    "width": (96, 192, 384, 768),
}
ROUNDS = 5


def speed(work, measure=beside.compare, start=beside.start_seconds):
    """Times inference, training, files and start of plain ViTs by turns with the others.

    Args:
        work: folder that keeps each cell; a run that was stopped goes on from there.
        measure, start: what measures: `compare` and `start_seconds`.
    """
    cells = [
        *((name, batch, dtype, "inference") for name, batch, dtype in INFERENCE),
        *((name, batch, dtype, "training step") for name, batch, dtype in TRAINING),
    ]
    rows = _cells(work, measure, cells)
    for name in track(FILES, "files", console=err):
        for call, engines in beside.FILES.items():
            taken = _kept(work, measure, engines, _settings(name, 1, None)[1], call)
            rows.append(_row(name, 1, call, "file", taken))
    settings = _settings(STARTED, 1, None)[1]
    starts = {name: start(name, settings) for name in (beside.OURS, HUB)}
    return {"command": "make record ROW=speed", "rows": rows, "start": {STARTED: starts}}


def relatives(work, measure=beside.compare):
    """Times the models of `RELATIVES` by turns with those who have the very same.

    Args:
        work, measure: as in `speed`.
    """
    cells = [
        (name, batch, dtype, call)
        for name, batch in RELATIVES.items()
        for call in beside.CALLS
        for dtype in ("float32", "bfloat16")
    ]
    return {"command": "make record ROW=relatives", "rows": _cells(work, measure, cells)}


def growth(work, measure=beside.compare):
    """Times a training step while one thing grows, beside KerasHub's, and fits exponents.

    Args:
        work, measure: as in `speed`.
    """
    points = [(what, value) for what, values in GROWTH.items() for value in values]
    rows = []
    for what, value in track(points, "points", console=err):
        _, settings = _settings("vit_ti16", 8, None)
        settings = settings | _grown(what, value)
        taken = _kept(work, measure, (beside.OURS, HUB), settings, "training step")
        rows.append({"grows": what, "value": value, **_figures(taken)})
    return {"command": "make record ROW=growth", "rows": rows, "exponents": exponents(rows)}


def exponents(rows):
    """Returns the slopes of log cost over log size, by least squares over the upper half.

    The lower half is left out: what a call costs in any case bends it.

    Args:
        rows: of `growth`.

    Returns:
        what grows -> package -> `seconds` and `bytes` -> exponent.
    """
    import numpy as np

    found = {}
    for what in GROWTH:
        points = sorted((r for r in rows if r["grows"] == what), key=lambda r: r["value"])
        points = points[len(points) // 2 - 1 :]
        sizes = np.log([point["value"] for point in points])
        found[what] = {
            name: {
                cost: round(
                    float(np.polyfit(sizes, np.log([p[name][cost] for p in points]), 1)[0]), 2
                )
                for cost in ("seconds", "bytes")
            }
            for name in (beside.OURS, HUB)
        }
    return found


def _cells(work, measure, cells):
    """Measures each (model, images a call, dtype, call) with those who have the model."""
    rows = []
    for name, batch, dtype, call in track(cells, "cells", console=err):
        config, settings = _settings(name, batch, dtype)
        everyone = (beside.OURS, *beside.having(settings), beside.PRODUCT)
        taken = _kept(work, measure, everyone, settings, call)
        share = beside.share_of_the_machine(taken, config, call, batch)
        rows.append(_row(name, batch, dtype, call, taken) | {"share": round(share, 3)})
    return rows


def _grown(what, value):
    if what != "width":
        return {what: value}
    return {"width": value, "num_heads": value // 64 or 1, "mlp_dim": 4 * value}


def _settings(name, batch, dtype):
    family, fields = NAMES[name]
    config = family.config_class(**fields)
    return config, beside.settings_of(config, batch, dtype)


def _kept(work, measure, names, settings, call):
    """Measures, or reads what was measured before the run was stopped."""
    key = "-".join(str(value) for value in (call, *settings.values())).replace(" ", "_")
    path = work / f"{key}.json"

    def cell():
        taken = measure(names, settings, call, rounds=ROUNDS)
        return {name: dataclasses.asdict(it) for name, it in taken.items()}

    return {name: beside.Taken(**it) for name, it in once(path, cell).items()}


def _figures(taken):
    return {
        name: {"seconds": float(f"{it.seconds:.4g}"), "bytes": it.growth}
        for name, it in taken.items()
    }


def _row(name, batch, dtype, call, taken):
    return {"model": name, "batch": batch, "dtype": dtype, "call": call, **_figures(taken)}
