"""The exact step against tf_keras, which trains right under a strategy when all shares are even."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent


def results(package):
    done = subprocess.run(
        [sys.executable, HERE / "beside_tf_keras.py", package],
        env=os.environ | {"PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


@pytest.mark.prove
def test_two_replicas_train_as_those_of_tf_keras():
    ours, theirs = results("keras"), results("tf_keras")
    for case, numbers in theirs.items():
        for name, values in numbers.items():
            np.testing.assert_allclose(ours[case][name], values, atol=1e-6, rtol=0, err_msg=case)
    # The bound matters: without it the weights would be others.
    apart = np.subtract(theirs["clipped"]["weights"], theirs["momentum"]["weights"])
    assert np.abs(apart).max() > 1e-2
