"""Exported files in the engines that read them, by turns in one run."""

import dataclasses
import sys
from pathlib import Path

from keras_vit.cli.bench_against import Rival, by_turns
from keras_vit.cli.bench_tables import mebibytes, new_table
from keras_vit.cli.console import out

# What is found at a path -> the engines that read it.
ENGINES = {
    ".tflite": ("LiteRT", "OpenVINO"),
    ".onnx": ("ONNX Runtime", "OpenVINO"),
    "saved_model.pb": ("TensorFlow", "OpenVINO"),
}


@dataclasses.dataclass(frozen=True)
class Measured:
    """One file in one engine.

    Args:
        path: `pathlib.Path` of the file.
        engine: key of `rivals.with_file.CALLS`.
        taken: its `Taken`; None where the engine does not run it.
        reason: why it does not, or None.
    """

    path: Path
    engine: str
    taken: object = None
    reason: str | None = None


def engines_of(path):
    """Returns (path to open, names of the engines) for a file, or a folder with a SavedModel.

    Raises:
        FileNotFoundError: if nothing is there.
        ValueError: if it is something else.
    """
    from keras_vit.runtime.saved_model import newest_version

    path = newest_version(Path(path))
    if not path.exists():
        raise FileNotFoundError(f"There is no model at {path}.")
    for sign, engines in ENGINES.items():
        if (path / sign).is_file() if path.is_dir() else path.suffix == sign:
            return path, engines
    raise ValueError(f"{path} is none of what is timed here: {', '.join(ENGINES)}.")


def measure(paths, threads=2, warmup=3, rounds=5):
    """Times each file in each of its engines, one image a call.

    Args:
        paths: files.
        threads: threads of each engine.
        warmup: calls that are not timed.
        rounds: turns of each: one call, or as many as half a second holds.

    Returns:
        A list of `Measured`; an engine that is not installed, or cannot read a file, says why.
    """
    found, rivals = [], {}
    try:
        for path in paths:
            path, engines = engines_of(path)
            for engine in engines:
                settings = {"path": str(path), "threads": threads}
                try:
                    rivals[len(found)] = Rival("file", sys.executable, engine, settings)
                    found.append(Measured(path, engine))
                except RuntimeError as error:
                    reason = str(error).splitlines()[-1].strip()
                    found.append(Measured(path, engine, reason=reason))
        taken = by_turns(list(rivals.values()), rounds, warmup)
    finally:
        for rival in rivals.values():
            rival.close()
    for place, it in zip(rivals, taken, strict=True):
        found[place] = dataclasses.replace(found[place], taken=it)
    return found


def files_beside(paths, threads, warmup, rounds):
    """Yields the table, and the sentence on how the first file does beside the others."""
    with out.status(f"{len(paths)} files, {threads} threads, by turns"):
        found = measure(paths, threads, warmup, rounds)
    columns = ("median ms", "p90 ms", "MiB more", "MB on disk")
    shown = new_table(f"one image, {threads} threads", *columns)
    for one in found:
        name = f"{one.path.name}, {one.engine}"
        if one.taken is None:
            shown.add_row(f"[dim]{name}: {one.reason}[/]", "", "", "", "")
            continue
        times = (f"{1000 * seconds:,.2f}" for seconds in (one.taken.seconds, one.taken.p90))
        shown.add_row(name, *times, mebibytes(one.taken), f"{size(one.path) / 1e6:,.1f}")
    yield shown
    first, others = fastest(found, paths[0])
    if first and others:
        ratio = others.taken.seconds / first.taken.seconds
        yield (
            f"{first.path.name} in {first.engine} is {ratio:.2f} times as fast as the fastest "
            f"other file, {others.path.name} in {others.engine}."
        )


def fastest(found, path):
    """Returns the fastest `Measured` of the file `path` and of all others; None without one."""
    path, _ = engines_of(path)
    ran = [one for one in found if one.taken is not None]
    key = lambda one: one.taken.seconds  # noqa: E731
    mine = min((one for one in ran if one.path == path), key=key, default=None)
    return mine, min((one for one in ran if one.path != path), key=key, default=None)


def size(path):
    """Returns the bytes of a file, or of all files in a folder."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())
