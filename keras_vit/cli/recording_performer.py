"""The recorded cost of a Performer over the length of the sequence, beside softmax attention."""

import functools
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from keras_vit.cli.console import err
from keras_vit.cli.once import once
from keras_vit.cli.timing import median_seconds
from keras_vit.layers import Attention, PerformerAttention, TransformerBlock

# One head of 64, as in every ViT: of several heads the costs add up.
WIDTH, SEED = 64, 5
PARTS = {
    "attention": {
        "softmax": lambda: Attention(1),
        "performer": lambda: PerformerAttention(1, seed=SEED),
    },
    "block": {
        kind: lambda kind=kind: TransformerBlock(1, 4 * WIDTH, attention=kind)
        for kind in ("softmax", "performer")
    },
}
CALLS = ("forward", "forward and backward")
TOKENS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
KINDS = ("softmax", "performer")
# What is drawn -> its name on the axis, and its unit.
COSTS = {"seconds": ("seconds", 1), "bytes": ("peak memory, MiB", 2**20)}


def cell(part, kind, call, tokens):
    """Measures one layer in this process, which should do nothing else.

    Args:
        part: key of `PARTS`.
        kind: one of `KINDS`.
        call: one of `CALLS`.
        tokens: length of the sequence.

    Returns:
        A dict: `seconds` of a call, the median, and `bytes` that the process grew by at most.
    """
    import tensorflow as tf

    layer = PARTS[part][kind]()
    layer.build((1, tokens, WIDTH))
    inputs = np.random.default_rng(SEED).normal(size=(1, tokens, WIDTH)).astype("float32")
    inputs = tf.constant(inputs)

    @tf.function(autograph=False)
    def forward(x):
        return layer(x, training=False)

    @tf.function(autograph=False)
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer(x, training=False) ** 2)
        return tape.gradient(loss, [x, *(weight.value for weight in layer.trainable_weights)])

    function = forward if call == CALLS[0] else both
    before = _peak()
    seconds = median_seconds(
        lambda: tf.nest.map_structure(lambda x: x[..., 0].numpy(), function(inputs)),
        repeats=7,
        warmup=1,
        limit=10.0,
    )
    return {"seconds": float(f"{seconds:.4g}"), "bytes": _peak() - before}


def performer(work, measure=None, tokens=TOKENS):
    """Measures time and memory of both kinds of attention, alone and in a block.

    Args:
        work: folder that keeps each cell; a run that was stopped goes on from there.
        measure: what measures, called as `cell` is; by default `cell` in a process of its own.
        tokens: the lengths.

    Returns:
        The figures.
    """
    measure = measure or _elsewhere
    rows = []
    cells = [(part, call, count) for part in PARTS for call in CALLS for count in tokens]
    for part, call, count in track(cells, "cells", console=err):
        row = {"part": part, "call": call, "tokens": count}
        for kind in KINDS:
            path = work / f"{part}-{call.replace(' ', '_')}-{count}-{kind}.json"
            row[kind] = once(path, functools.partial(measure, part, kind, call, count))
        rows.append(row)
    even = {
        part: {
            call: {cost: break_even(_of(rows, part, call), cost) for cost in COSTS}
            for call in CALLS
        }
        for part in PARTS
    }
    features = PARTS["attention"]["performer"]()
    features.build((1, 2, WIDTH))
    return {
        "command": "make record ROW=performer",
        "width": WIDTH,
        "heads": 1,
        "features": int(features.directions.shape[0]),
        "rows": rows,
        "break_even": even,
    }


def break_even(rows, cost):
    """Returns from how many tokens on the Performer costs less, or None if it never does.

    It stays so up to the longest sequence; between two lengths it is told by the line through their
    logarithms.

    Args:
        rows: of one part and call, by rising `tokens`.
        cost: key of `COSTS`.

    Example:

    >>> rows = [{"tokens": 64, "softmax": {"seconds": 1}, "performer": {"seconds": 2}}]
    >>> rows += [{"tokens": 256, "softmax": {"seconds": 8}, "performer": {"seconds": 4}}]
    >>> break_even(rows, "seconds")
    128
    """
    ratios = [row["performer"][cost] / max(row["softmax"][cost], 1e-12) for row in rows]
    if ratios[-1] >= 1:
        return None
    last = max((i for i, ratio in enumerate(ratios) if ratio >= 1), default=None)
    if last is None:
        return rows[0]["tokens"]
    here, there = (np.log(max(ratios[i], 1e-12)) for i in (last, last + 1))
    share = here / (here - there)
    low, high = (np.log(rows[i]["tokens"]) for i in (last, last + 1))
    return round(float(np.exp(low + share * (high - low))))


def draw_performer(figures, folder):
    """Draws time and memory over the length of the sequence.

    Args:
        figures: of `performer`.
        folder: where `performer_seconds.png` and `performer_bytes.png` are written.

    Returns:
        The two paths.
    """
    return [_draw(figures, cost, Path(folder) / f"performer_{cost}.png") for cost in COSTS]


def _draw(figures, cost, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    label, unit = COSTS[cost]
    figure, panels = pyplot.subplots(1, 4, figsize=(11, 3), sharey=True)
    places = [(part, call) for part in PARTS for call in CALLS]
    for panel, (part, call) in zip(panels, places, strict=True):
        rows = _of(figures["rows"], part, call)
        for kind, mark in (("softmax", "o--"), ("performer", "o-")):
            # What the process did not grow by at all has no place on a logarithmic axis.
            points = [(row["tokens"], row[kind][cost] / unit) for row in rows if row[kind][cost]]
            panel.loglog(*zip(*points, strict=True), mark, label=kind, markersize=4)
        even = figures["break_even"][part][call][cost]
        if even is not None:
            panel.axvline(even, color="grey", linewidth=0.8)
        panel.set_title(f"{part}, {call}", fontsize=9)
        panel.set_xlabel("tokens")
    panels[0].set_ylabel(label)
    panels[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path


def _of(rows, part, call):
    return [row for row in rows if (row["part"], row["call"]) == (part, call)]


def _elsewhere(*arguments):
    """`cell` in a process of its own: its memory is then that of the cell."""
    code = (
        "import json, sys\n"
        "from keras_vit.cli.recording_performer import cell\n"
        "print(json.dumps(cell(*json.loads(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", code, json.dumps(arguments)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def _peak():
    """The most bytes of memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
