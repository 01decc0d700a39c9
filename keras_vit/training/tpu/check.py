"""Compiles a model's training step for a TPU slice, each time in a process of its own."""

import dataclasses
import json
import os
import subprocess
import sys

from keras_vit.layers.extras import require
from keras_vit.models import NAMES
from keras_vit.training.tpu.fit_batch import largest_batch
from keras_vit.training.tpu.topology import topology

# The roads; each is called by the Keras backend of its process.
BACKENDS = ("jax", "tensorflow")


@dataclasses.dataclass(frozen=True)
class Request:
    """A step to compile.

    Args:
        model: a registered name.
        topology: a slice, such as `"v5e:2x2"`.
        batch_per_chip: images a step, by the number of chips.
        tensor_parallel: chips that share one copy of the weights.
        fields: fields of the model's config to change.
        road: `"jax"`: the step over the whole slice; `"tensorflow"`: that of one replica, on one
            chip.

    Raises:
        ValueError: for an unknown model, topology or road, or sizes that do not fit one another.
    """

    model: str
    topology: str = "v5e:2x2"
    batch_per_chip: int = 128
    tensor_parallel: int = 1
    fields: dict = dataclasses.field(default_factory=dict)
    road: str = "jax"

    def __post_init__(self):
        if self.model not in NAMES:
            raise ValueError(
                "`model` must be a registered name, see `keras-vit models`. "
                f"Received: {self.model!r}."
            )
        if self.road not in BACKENDS:
            raise ValueError(f"`road` must be one of {list(BACKENDS)}. Received: {self.road!r}.")
        chips = topology(self.topology).chips
        if chips % self.tensor_parallel:
            raise ValueError(
                "`tensor_parallel` must divide the number of chips. "
                f"Received: tensor_parallel={self.tensor_parallel}, {chips} chips."
            )
        if self.tensor_parallel > 1 and self.road == "tensorflow":
            raise ValueError("Tensor parallelism is the JAX road's. Received: road='tensorflow'.")

    def on(self, road):
        """The same request on another road."""
        return dataclasses.replace(self, road=road)


def require_compiler():
    """Checks that what a compile needs is installed.

    Raises:
        ImportError: if it is not; the message says what to install.
    """
    for module in ("jax", "libtpu"):
        require(module, extra="tpu-check")


def compile_step(request):
    """Compiles the step of a `Request`.

    Returns:
        A dict: `compiled`; if so the figures of `figures.figures`, else the compiler's `message`;
        `lint`; `analytic_flops` of one chip.

    Raises:
        ImportError: if libtpu is not installed.
        RuntimeError: if the process failed otherwise; the message is its last line.
    """
    environment = {**os.environ, "KERAS_BACKEND": request.road}
    environment.update(topology(request.topology).environment())
    command = [sys.executable, "-m", "keras_vit.training.tpu.worker"]
    done = subprocess.run(
        [*command, json.dumps(dataclasses.asdict(request))],
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    kind, _, message = lines[-1].partition(": ")
    raise {"ImportError": ImportError, "ValueError": ValueError}.get(kind, RuntimeError)(
        message or kind
    )


def is_clean(outcome):
    """Tells whether a step compiled, gathers no weight, and holds nothing that no TPU can run."""
    return outcome["compiled"] and not outcome["lint"] and not outcome.get("gathered_weights")


def largest(request, start, attempt, step=8):
    """Returns the largest batch per chip that compiles, and the smallest that does not.

    Args:
        request: a `Request`; its batch is not looked at.
        start: two batches per chip, see `fit_batch.largest_batch`.
        attempt: function from a `Request` to an outcome, such as `compile_step`.
        step: what a batch per chip is a multiple of.
    """

    def fits(batch):
        outcome = attempt(dataclasses.replace(request, batch_per_chip=batch))
        if "hbm" not in outcome:  # failed for another reason than memory
            raise RuntimeError(outcome["message"])
        return outcome["compiled"], outcome["hbm"]

    return largest_batch(fits, topology(request.topology).hbm, start, step)
