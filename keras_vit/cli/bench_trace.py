"""Where the time of a call goes: TensorFlow's own trace, summed by kind of operation."""

import collections
import re
import tempfile
from pathlib import Path

from rich.table import Table

# Rows of the table: what comes after them is summed in one.
SHOWN = 12
# How a trace names an operation, `name:kind`; functions of the runtime have two colons or a space.
OPERATION = re.compile(r"[^:\s]+:(\w+)")


def operation_seconds(call, repeats=3):
    """Returns what the operations of one call take on TensorFlow's CPU.

    Operations that run at the same time count each, so that the sum may be more than the call.

    Args:
        call: function without arguments that was called before.
        repeats: traced calls.

    Returns:
        dict: kind of operation -> (seconds, times it runs) of one call, the longest first.

    Raises:
        ValueError: if nothing of TensorFlow ran on the CPU.
    """
    seconds, runs = collections.Counter(), collections.Counter()
    for event, kind in _events(_trace(call, repeats)):
        seconds[kind] += event.duration_ps / 1e12
        runs[kind] += 1
    if not seconds:
        raise ValueError("`--trace` needs TensorFlow on a CPU: the trace holds no operation of it.")
    return {kind: (s / repeats, runs[kind] // repeats) for kind, s in seconds.most_common()}


def trace_table(name, call):
    """Returns the table of where the time of a call goes.

    Args:
        name: what the call is.
        call: as `operation_seconds` takes it.
    """
    taken = operation_seconds(call)
    whole = sum(seconds for seconds, _ in taken.values())
    table = Table(box=None, pad_edge=False, title=f"{name}, by kind of operation")
    for column in ("", "ms", "share", "times"):
        table.add_column(column, justify="right" if column else "left")
    rows = [(kind, *it) for kind, it in taken.items()]
    rest = rows[SHOWN:]
    if rest:
        rows[SHOWN:] = [("the rest", sum(row[1] for row in rest), sum(row[2] for row in rest))]
    for kind, seconds, runs in rows:
        table.add_row(kind, f"{1000 * seconds:,.1f}", f"{seconds / whole:.1%}", str(runs))
    return table


def _trace(call, repeats):
    """The planes of a profile of `repeats` calls."""
    import tensorflow as tf
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    with tempfile.TemporaryDirectory() as folder:
        with tf.profiler.experimental.Profile(folder):
            for _ in range(repeats):
                call()
        space = xplane_pb2.XSpace()
        for path in Path(folder).rglob("*.xplane.pb"):
            space.MergeFromString(path.read_bytes())
    return space.planes


def _events(planes):
    """Yields (event, kind) of the operations on the CPU."""
    for plane in planes:
        if "host:CPU" not in plane.name:
            continue
        for event in (event for line in plane.lines for event in line.events):
            match = OPERATION.fullmatch(plane.event_metadata[event.metadata_id].name)
            if match:
                yield event, match[1]
