"""The contract of layers and models under JAX, in a process of its own: one block deep."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.prove
def test_the_contract_holds_under_jax():
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    # Graph passes stay on. LLVM's own optimisation is off: it is two fifths of the whole time.
    flags = [os.environ.get("XLA_FLAGS", ""), "--xla_backend_optimization_level=0"]
    environment["XLA_FLAGS"] = " ".join(flags).strip()
    # The run under way may be one of several workers, and its options are not this one's.
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    command = [sys.executable, "-m", "pytest", "tests/contract", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    closing = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else run.stderr
    assert re.fullmatch(r"=*\s*\d+ passed in .*", closing), run.stdout + run.stderr
    assert int(closing.split(" passed")[0].split()[-1]) > 200
