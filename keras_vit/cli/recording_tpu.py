"""The recorded compiles of training steps for TPU slices. Compiled, not run."""

import dataclasses
import hashlib
import json
from importlib.metadata import version

from keras_vit.cli.once import once
from keras_vit.training.tpu.check import Request, compile_step, is_clean, largest

# The first of these that a step has room on is the one in the table: slice, and how many of its
# chips share a copy of the weights.
SLICES = (("v5e:1x1", 1), ("v5e:2x2", 2), ("v5e:2x2", 4), ("v5e:2x4", 8))
TABLE = {
    "Ti/16": "vit_ti16",
    "S/16": "vit_s16",
    "B/16": "vit_b16",
    "L/16": "vit_l16",
    "H/14": "vit_h14",
    "g/14": "vit_g14",
    "G/14": "vit_gigantic14",
}
BATCH_PER_CHIP = 8  # in the table
# The most FLOPs over the analytic count. A chip that is nearly full has its compiler compute
# things a second time.
MOST, MOST_OF_TI = 1.05, 1.10
MIB = 2**20


def tpu_b16(work, attempt=compile_step):
    """B/16, 128 images a chip: on 4 and on 256 chips, and TensorFlow's step on one.

    Args:
        work: folder that keeps each compile; a run that was stopped goes on from there.
        attempt: function from a `Request` to an outcome.
    """
    attempt = kept(work, attempt)
    steps = {
        "v5e:2x2": Request("vit_b16", "v5e:2x2"),
        "v5e:16x16": Request("vit_b16", "v5e:16x16"),
        "tensorflow, one chip": Request("vit_b16", "v5e:2x2", road="tensorflow"),
    }
    found = {name: row(attempt(request)) for name, request in steps.items()}
    fits, does_not = largest(steps["v5e:2x2"], (64, 128), attempt)
    most = attempt(dataclasses.replace(steps["v5e:2x2"], batch_per_chip=fits))
    return {
        "command": "make record ROW=tpu_b16",
        "batch_per_chip": 128,
        "steps": found,
        "largest_batch_per_chip": {"compiles": fits, "does_not": does_not, **row(most)},
        **how(),
    }


def tpu_table(work, attempt=compile_step):
    """For each size the smallest slice that its step compiles for, and has room on.

    Args:
        work, attempt: as in `tpu_b16`.
    """
    attempt = kept(work, attempt)
    return {
        "command": "make record ROW=tpu_table",
        "batch_per_chip": BATCH_PER_CHIP,
        "sizes": {size: smallest_slice(model, attempt) for size, model in TABLE.items()},
        **how(),
    }


def smallest_slice(model, attempt):
    """The first of `SLICES` that a model's step has room on, with the figures of its compile.

    Raises:
        ValueError: if there is none.
    """
    too_small = {}
    for topology, ways in SLICES:
        request = Request(model, topology, BATCH_PER_CHIP, tensor_parallel=ways)
        outcome = attempt(request)
        if not outcome["compiled"]:
            why = outcome["message"]
        elif over_analytic(outcome) > (MOST_OF_TI if model == TABLE["Ti/16"] else MOST):
            why = f"{over_analytic(outcome)} times the FLOPs: the compiler computes things again."
        else:
            place = {"topology": topology, "tensor_parallel": ways}
            return {**place, **row(outcome), "too_small": too_small}
        too_small[f"{topology}, {ways} chips a copy"] = why
    raise ValueError(f"`{model}` has room on none of {SLICES}. Received: {too_small}.")


def over_analytic(outcome):
    """The FLOPs of a compile over the model's own count."""
    return round(outcome["flops"] / outcome["analytic_flops"], 4)


def row(outcome):
    """What is recorded of a compile.

    Raises:
        ValueError: if the step did not compile, moves a weight, or holds what no TPU can run.
    """
    if not is_clean(outcome):
        raise ValueError(f"The step must compile, and move no weight. Received: {outcome}.")
    return {
        "hbm_mib": round(outcome["hbm"] / MIB),
        "temporaries_mib": round(outcome["temporaries"] / MIB),
        "flops": outcome["flops"],
        "flops_over_analytic": over_analytic(outcome),
        "collectives": outcome["collectives"],
    }


def how():
    """What every row says of its compiles."""
    return {
        "ran": False,  # compiled, not run
        "dtype": "mixed_bfloat16",
        "optimizer": "adamw",
        "versions": {name: version(name) for name in ("jax", "libtpu")},
    }


def kept(work, attempt):
    """The same function, keeping each outcome as a file in `work` and reading it from there."""

    def keeping(request):
        text = json.dumps(dataclasses.asdict(request), sort_keys=True)
        path = work / f"{request.model}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
        return once(
            path, lambda: {"request": dataclasses.asdict(request), "outcome": attempt(request)}
        )["outcome"]

    return keeping
