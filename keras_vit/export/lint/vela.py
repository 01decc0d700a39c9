"""Arm's compiler for Ethos-U NPUs, which is run as a command."""

import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from keras_vit.export.lint.graph import read_graph
from keras_vit.export.lint.verdict import Finding

# The largest of each generation, and the smaller ones by their number of multipliers.
ACCELERATORS = {
    "ethos-u55": "ethos-u55-256",
    "ethos-u65": "ethos-u65-512",
    "ethos-u85": "ethos-u85-1024",
    **{
        f"ethos-u{name}": f"ethos-u{name}"
        for name in (
            "55-32", "55-64", "55-128", "55-256", "65-256", "65-512",
            "85-128", "85-256", "85-512", "85-1024", "85-2048",
        )
    },
}  # fmt: skip
# What stands in the compiled file for all that was compiled.
NPU = "ethos-u"
SOURCE = "ethos-u-vela"


def find_vela():
    """Returns the path of the command: beside this Python, or on the PATH.

    Raises:
        FileNotFoundError: if it is not installed.
    """
    beside = Path(sys.executable).with_name("vela")
    found = str(beside) if beside.is_file() else shutil.which("vela")
    if found is None:
        raise FileNotFoundError(
            "Arm's compiler `vela` is not installed. Run: pip install ethos-u-vela (it may stand "
            "in an environment of its own, whose bin folder is on the PATH)."
        )
    return found


def compile_with_vela(path, graph, accelerator):
    """Compiles a file.

    An operator of the file counts as left on the CPU if it is still there after the compilation;
    all others have become part of an NPU program.

    Args:
        path: a `.tflite` file.
        graph: its `Graph`.
        accelerator: key of `ACCELERATORS`.

    Returns:
        (tuple of `Finding`s of what is left to the CPU, dict of Vela's estimates:
        `milliseconds`, `cycles`, `sram_bytes`, `dram_bytes`, `mhz`, `configuration`).

    Raises:
        ValueError: if Vela cannot compile the file.
        FileNotFoundError: if it is not installed.
    """
    command = [find_vela(), str(path), "--accelerator-config", ACCELERATORS[accelerator]]
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [*command, "--output-dir", folder], capture_output=True, text=True, check=False
        )
        written, tables = (
            list(Path(folder).glob(end)) for end in ("*_vela.tflite", "*summary*.csv")
        )
        if ran.returncode or not written or not tables:
            last = " / ".join((ran.stderr or ran.stdout).strip().splitlines()[-3:])
            raise ValueError(f"Vela cannot compile {path}: {last}")
        left = [one for one in read_graph(written[0]).operators if one.name != NPU]
        with open(tables[0], newline="", encoding="utf-8") as file:
            row = next(csv.DictReader(file))
    return _blockers(graph, left), _figures(row)


def _blockers(graph, left):
    """The file's operators among those left, by what they write."""
    positions = {operator.outputs[0].name: operator.position for operator in graph.operators}
    return tuple(
        Finding(
            positions.get(one.outputs[0].name, one.position),
            one.name,
            one.block,
            "stays on the CPU",
            SOURCE,
        )
        for one in left
    )


def _figures(row):
    return {
        "configuration": row["accelerator_configuration"],
        "mhz": round(float(row["core_clock"]) / 1e6),
        "milliseconds": 1000 * float(row["inference_time"]),
        "cycles": round(float(row["cycles_total"])),
        "sram_bytes": round(1024 * float(row["sram_memory_used"])),
        "dram_bytes": round(1024 * float(row["dram_memory_used"])),
    }
