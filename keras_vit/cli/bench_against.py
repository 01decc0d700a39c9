"""Side by side: this package's model and those that people would pick instead, in one run."""

import dataclasses
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from keras_vit.cli.rivals.with_keras_vit import FIELDS
from keras_vit.cli.rivals.with_matrix_product import SIDE as PRODUCT_SIDE
from keras_vit.models import NAMES
from keras_vit.models.flops import forward_flops, training_flops

LOOP = Path(__file__).parent / "rivals" / "loop.py"
START = LOOP.with_name("start.py")
# Who has plain ViTs of any size; and of our other models, name -> who has the very same.
OF_VITS = ("timm", "timm_compiled", "keras_hub")
RELATIVES = {
    **dict.fromkeys(("swin_t", "swin_s", "swin_b"), ("timm", "timm_compiled")),
    "timesformer_b16": ("transformers",),
}
RIVALS = (*OF_VITS, "transformers")
CALLS = ("inference", "training step")
# The product is no rival but the measure of the machine.
OURS, PRODUCT = "keras_vit", "matrix_product"
# Files of one model and the engines that run them, by their precision.
FILES = {
    "float32": ("saved_model", "tflite", "onnxruntime", "openvino"),
    "dynamic int8": ("tflite", "onnxruntime"),
}
# Seconds of a turn: the first call after the others' turns finds cold caches and sleeping threads.
TURN = 0.5
# What runs in this environment, not in the rivals'.
HERE = {OURS, PRODUCT, "saved_model", "tflite"}


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
    """Returns what the rivals are told of a model: the sizes of a plain ViT, or a name.

    Args:
        config: a plain `ViTConfig`, or that of one of `RELATIVES`.
        batch_size: images a call.
        dtype: policy or None.

    Raises:
        ValueError: for a model that the rivals do not have.
    """
    half = dtype is not None and dtype.endswith("bfloat16")
    shared = {"batch_size": batch_size, "dtype": "bfloat16" if half else "float32"}
    if name := relative(config):
        clip = {"frames": config.frames} if hasattr(config, "frames") else {}
        sizes = {"image_size": config.image_size[0], "num_classes": config.num_classes}
        return {"model": name, **clip, **sizes, **shared}
    plain = dataclasses.replace(type(config)(), **_sizes(config))
    kept = dataclasses.replace(config, preprocessing=None)
    if dataclasses.replace(plain, preprocessing=None) != kept:
        raise ValueError(
            "`--against` compares plain ViTs and, as they are published, "
            f"{', '.join(RELATIVES)}: others are not in the other packages."
        )
    if config.image_size[0] != config.image_size[1]:
        raise ValueError(f"`--against` compares square images. Received: {config.image_size}.")
    return {
        **_sizes(config),
        "image_size": config.image_size[0],
        "patch_size": config.patch_size[0],
        **shared,
    }


def relative(config):
    """Returns the name in `RELATIVES` that a config is of, or None."""
    for name in RELATIVES:
        family, fields = NAMES[name]
        if family.config_class(**fields) == config:
            return name
    return None


def check_rivals(names, settings):
    """Checks that the others have the model.

    Args:
        names: of rivals.
        settings: from `settings_of`.

    Raises:
        ValueError: if one has not.
    """
    there = having(settings)
    for name in names:
        if name not in there:
            raise ValueError(
                f"`--against` takes {', '.join(there)} for this model. Received: {name!r}."
            )


def having(settings):
    """Returns the names of those who have the model.

    Args:
        settings: from `settings_of`.
    """
    return RELATIVES.get(settings.get("model"), OF_VITS)


def _sizes(config):
    return {name: getattr(config, name) for name in FIELDS}


@dataclasses.dataclass(frozen=True)
class Taken:
    """What a call took.

    Args:
        seconds: median of the timed calls.
        growth: bytes by which the process grew over the model alone, or None if unknown.
        p90: seconds that nine of ten timed calls kept below, or None.
    """

    seconds: float
    growth: int | None
    p90: float | None = None


class Rival:
    """One call of one package's model, in a process of its own.

    Args:
        name: a file beside `LOOP`, without its `with_`.
        python: the interpreter of an environment that has the package.
        call: one that the file has.
        settings: from `settings_of`.

    Raises:
        RuntimeError: if the process ends, with the last lines that it wrote.
    """

    def __init__(self, name, python, call, settings):
        self.name = name
        self.times = []
        self.growth = None
        # A pipe that nobody reads would fill with a backend's messages, and stop the process.
        self.errors = tempfile.TemporaryFile("w+")
        command = [str(python), str(LOOP), f"with_{name}", call, json.dumps(settings)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.errors}
        self.process = subprocess.Popen(command, text=True, **pipes)
        try:
            self._answer()
        except RuntimeError:
            self.close()
            raise

    def call(self, count):
        """Returns the seconds of each of `count` calls, and notes the growth."""
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        answer = self._answer()
        self.growth = answer["growth"]
        return answer["seconds"]

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


def compare(names, settings, call, python=sys.executable, rounds=5):
    """Times all by turns, so that what else the machine does falls on each alike.

    Args:
        names: of `Rival`s.
        settings: from `settings_of`.
        call: what to time.
        python: the interpreter for those that are not `HERE`.
        rounds: turns of each: one call, or as many as half a second holds.

    Returns:
        name -> `Taken`.
    """
    rivals = []
    try:
        for name in names:
            where = sys.executable if name in HERE else python
            rivals.append(Rival(name, where, call, settings))
        taken = by_turns(rivals, rounds)
    finally:
        for rival in rivals:
            rival.close()
    return {rival.name: it for rival, it in zip(rivals, taken, strict=True)}


def by_turns(rivals, rounds, warmup=2):
    """Times `Rival`s by turns.

    Args:
        rivals: list of them.
        rounds: as in `compare`.
        warmup: calls of each before the turns, at least 1: the first one compiles.

    Returns:
        Their `Taken`, in the same order.
    """
    counts = [max(1, round(TURN / rival.call(warmup)[-1])) for rival in rivals]
    for _ in range(rounds):
        for rival, count in zip(rivals, counts, strict=True):
            rival.times += rival.call(count)
    return [
        Taken(statistics.median(rival.times), rival.growth, ninth_tenth(rival.times))
        for rival in rivals
    ]


def ninth_tenth(values):
    """Returns the value that nine of ten are at or below.

    Example:

    >>> ninth_tenth([5, 1, 2, 3, 4, 6, 7, 10, 8, 9])
    9
    """
    return sorted(values)[math.ceil(0.9 * len(values)) - 1]


def start_seconds(name, settings, python=sys.executable, rounds=3):
    """Returns the median seconds of `import`, `build` and `first step` of fresh processes.

    Args:
        name: `OURS` or `"keras_hub"`.
        settings: from `settings_of`.
        python: the interpreter of an environment that has the package.
        rounds: number of processes.

    Raises:
        subprocess.CalledProcessError: if one fails.
    """
    command = [str(python), str(START), f"with_{name}", json.dumps(settings)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(rounds)
    ]
    return {part: statistics.median(run[part] for run in runs) for part in runs[0]}


def flops_of(config, call, batch_size):
    """Returns the operations of one call, by the model's own count.

    Args:
        config: a model's config.
        call: one of `CALLS`.
        batch_size: images a call.
    """
    count = training_flops if call == "training step" else forward_flops
    return batch_size * count(config)


def share_of_the_machine(taken, config, call, batch_size):
    """Returns the model's rate of operations over that of a large matrix product, 0 to 1.

    Args:
        taken: from `compare`.
        config: the model's config.
        call: one of `CALLS`.
        batch_size: images a call.
    """
    rate = flops_of(config, call, batch_size) / taken[OURS].seconds
    return rate / (2 * PRODUCT_SIDE**3 / taken[PRODUCT].seconds)
