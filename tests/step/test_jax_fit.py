import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_step_on_jax():
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    process = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "tests/step/on_jax.py"],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert process.stdout.strip() == "passed", process.stderr
