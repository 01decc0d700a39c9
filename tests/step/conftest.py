"""Runs the scenarios, once for each number of replicas: see scenarios.py."""

import fcntl
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Everything under two replicas; with one and four, what may differ there.
CHOSEN = {
    1: (
        "accumulate additional_losses class_weights clip_accumulate_compiled "
        "dropout_under_one_device ema masks_and_embeddings not_finite pairwise_in_pieces_compiled "
        "pairwise_with_dropout ratio several_outputs single_batches uneven_last_batch"
    ).split(),
    2: [],
    4: (
        "accumulate additional_losses batch_normalization clip_accumulate_compiled dropout ema "
        "fewer_examples_than_replicas not_finite one_example_in_the_last_batch pairwise "
        "pairwise_with_dropout ratio_in_one_piece"
    ).split(),
}


def run(replicas):
    # Without LLVM's own optimisation XLA takes half the time.
    environment = {**os.environ, "XLA_FLAGS": "--xla_backend_optimization_level=0"}
    command = [sys.executable, "-W", "error::UserWarning", HERE / "scenarios.py", str(replicas)]
    process = subprocess.run(
        [*command, *CHOSEN[replicas]],
        cwd=HERE.parents[1],
        env={**environment, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr[-4000:]
    return process.stdout


@pytest.fixture(scope="session")
def scenario(tmp_path_factory, worker_id):
    """`scenario(replicas, name)` is the dict of a scenario's numbers."""
    folder = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        folder = folder.parent  # that of all workers: what one has run, the others read

    @functools.cache
    def numbers(replicas):
        path = folder / f"scenarios_{replicas}.jsonl"
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                path.write_text(run(replicas))
        return dict(json.loads(line) for line in path.read_text().splitlines())

    return lambda replicas, name: numbers(replicas)[name]
