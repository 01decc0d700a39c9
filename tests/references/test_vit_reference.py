"""The stored fixtures are what timm and transformers say, not what somebody once stored."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
STORED = HERE.parent / "fixtures" / "vit"
NAMES = ("timm_token_rectangle", "timm_gap_then_norm", "timm_map", "transformers_token")


@pytest.mark.prove
def test_the_references_give_the_stored_fixtures(tmp_path):
    subprocess.run(
        [sys.executable, HERE / "vit_reference.py", "--only", *NAMES, "--out", tmp_path], check=True
    )
    for name in NAMES:
        stored, made = np.load(STORED / f"{name}.npz"), np.load(tmp_path / f"{name}.npz")
        assert set(made.files) == set(stored.files)
        np.testing.assert_array_equal(made["image"], stored["image"])
        for key in ("logits", "features", "block_outputs"):
            scale = np.abs(stored[key]).max()
            assert np.abs(made[key] - stored[key]).max() <= 1e-12 * scale, (name, key)
