"""The stored figures are timm's, not what somebody once stored."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.prove
def test_timm_gives_the_stored_figures(tmp_path):
    made = tmp_path / "augment.json"
    subprocess.run([sys.executable, HERE / "augment_reference.py", "--out", made], check=True)
    stored = HERE.parent / "fixtures" / "augment.json"
    assert json.loads(made.read_text()) == json.loads(stored.read_text())
