"""What every test shares: quiet TensorFlow and fixed seeds."""

import os
import sys

# Before anything imports TensorFlow, which reads it once. 2 leaves its errors.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Pictures are drawn without a display.
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest


@pytest.fixture(autouse=True)
def fixed_seeds():
    """Seeds Python's, numpy's and the backend's generators, so that no test's numbers depend on
    which tests ran before it."""
    if "keras" in sys.modules:  # a test that only reads files need not wait for the import
        sys.modules["keras"].utils.set_random_seed(20261)
