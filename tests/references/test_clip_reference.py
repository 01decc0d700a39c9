"""The stored fixtures are what transformers and OpenCLIP say, not what somebody once stored."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.references.clip_cases import CASES

HERE = Path(__file__).parent
STORED = HERE.parent / "fixtures" / "clip"


@pytest.mark.prove
def test_the_references_give_the_stored_fixtures(tmp_path):
    subprocess.run([sys.executable, HERE / "clip_reference.py", "--out", tmp_path], check=True)
    for name in CASES:
        stored, made = (np.load(at / name / "expected.npz") for at in (STORED, tmp_path))
        assert set(made.files) == set(stored.files)
        for key in stored.files:
            scale = np.abs(stored[key]).max()
            assert np.abs(made[key] - stored[key]).max() <= 1e-12 * scale, (name, key)
