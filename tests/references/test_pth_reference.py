"""The stored `.pth` files are what PyTorch writes, not what somebody once stored."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from keras_vit.weights.archives import open_archive

HERE = Path(__file__).parent
STORED = HERE.parent / "fixtures" / "pth"


@pytest.mark.prove
def test_pytorch_writes_the_stored_files(tmp_path):
    subprocess.run([sys.executable, HERE / "pth_reference.py", "--out", tmp_path], check=True)
    with np.load(STORED / "kinds.npz") as stored, np.load(tmp_path / "kinds.npz") as made:
        assert set(made.files) == set(stored.files)
        archive = open_archive(tmp_path / "kinds.pth")
        for name in stored.files:
            np.testing.assert_array_equal(made[name], stored[name], err_msg=name)
            np.testing.assert_array_equal(archive.read(name), stored[name], err_msg=name)
    for name in ("kinds.pth", "small.pth", "legacy.pth", "module.pth"):
        assert (tmp_path / name).exists() and (STORED / name).exists()
