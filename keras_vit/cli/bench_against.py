"""Side by side: this package's model and those that people would pick instead, in one run."""

import dataclasses
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LOOP = Path(__file__).parent / "rivals" / "loop.py"
RIVALS = ("timm", "keras_hub")


def rival_names(text):
    """Returns the names in `"timm,keras_hub"`.

    Raises:
        ValueError: for a name that is none of `RIVALS`.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in RIVALS:
            raise ValueError(f"`--against` takes {', '.join(RIVALS)}. Received: {name!r}.")
    return names


def settings_of(config, batch_size, dtype):
    """Returns what the rivals are told of a plain ViT.

    Args:
        config: a `ViTConfig`.
        batch_size: images a call.
        dtype: policy or None.

    Raises:
        ValueError: for a model that the rivals do not have.
    """
    plain = dataclasses.replace(type(config)(), **_sizes(config))
    kept = dataclasses.replace(config, preprocessing=None)
    if dataclasses.replace(plain, preprocessing=None) != kept:
        raise ValueError("`--against` compares plain ViTs: others are not in the other packages.")
    if config.image_size[0] != config.image_size[1]:
        raise ValueError(f"`--against` compares square images. Received: {config.image_size}.")
    half = dtype is not None and dtype.endswith("bfloat16")
    return {
        **_sizes(config),
        "image_size": config.image_size[0],
        "patch_size": config.patch_size[0],
        "batch_size": batch_size,
        "dtype": "bfloat16" if half else "float32",
    }


def _sizes(config):
    names = ("width", "depth", "num_heads", "mlp_dim", "num_classes", "image_size", "patch_size")
    return {name: getattr(config, name) for name in names}


class Rival:
    """One package's model, in a process of its own.

    Args:
        name: `"keras_vit"` or one of `RIVALS`.
        python: the interpreter of an environment that has the package.
        settings: from `settings_of`.

    Raises:
        RuntimeError: if the process ends, with the last lines that it wrote.
    """

    def __init__(self, name, python, settings):
        self.name = name
        # A pipe that nobody reads would fill with a backend's messages, and stop the process.
        self.errors = tempfile.TemporaryFile("w+")
        command = [str(python), str(LOOP), f"with_{name}", json.dumps(settings)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.errors}
        self.process = subprocess.Popen(command, text=True, **pipes)
        try:
            self.calls = self._answer()
        except RuntimeError:
            self.close()
            raise

    def seconds(self, call, count):
        """Returns the seconds of each of `count` calls."""
        self.process.stdin.write(f"{call} {count}\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self):
        """Ends the process."""
        self.process.kill()
        self.process.communicate()
        self.errors.close()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            last = "\n".join(self.errors.read().strip().splitlines()[-3:])
            raise RuntimeError(f"The process of {self.name} ended:\n{last}")
        return json.loads(line)


def compare(names, settings, python=sys.executable, rounds=5):
    """Times all by turns, so that what else the machine does falls on each alike.

    Args:
        names: some of `RIVALS`.
        settings: from `settings_of`.
        python: the interpreter of the rivals' environment.
        rounds: timed calls of each.

    Returns:
        call -> rival -> median seconds; `"keras_vit"` comes first.
    """
    rivals, found = [], {}
    try:
        for name in ("keras_vit", *names):
            rivals.append(Rival(name, sys.executable if name == "keras_vit" else python, settings))
        for call in rivals[0].calls:
            for rival in rivals:
                rival.seconds(call, 2)  # they compile
            times = {rival.name: [] for rival in rivals}
            for _ in range(rounds):
                for rival in rivals:
                    times[rival.name] += rival.seconds(call, 1)
            found[call] = {name: statistics.median(taken) for name, taken in times.items()}
    finally:
        for rival in rivals:
            rival.close()
    return found
