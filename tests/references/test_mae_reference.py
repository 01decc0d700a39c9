"""The stored fixture is what transformers says, not what somebody once stored."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
STORED = HERE.parent / "fixtures" / "mae" / "expected.npz"


@pytest.mark.prove
def test_the_reference_gives_the_stored_fixture(tmp_path):
    out = tmp_path / "mae"
    subprocess.run([sys.executable, HERE / "mae_reference.py", "--out", out], check=True)
    stored, made = np.load(STORED), np.load(out / "expected.npz")
    assert set(made.files) == set(stored.files)
    for key in stored.files:
        scale = np.abs(stored[key]).max()
        assert np.abs(made[key] - stored[key]).max() <= 1e-12 * scale, key
