"""A run that is killed in the middle of an epoch, augmentation on, against one that is not."""

import csv
import signal
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit.data import write_digits
from tests.training.killed_run import RECIPE, STEPS

ROOT = Path(__file__).parents[2]


def start(data, out, kill_at=0, resume=False):
    command = [sys.executable, "-m", "tests.training.killed_run", data, out, kill_at, resume]
    return subprocess.Popen(
        [str(word) for word in command], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )


def code(process):
    _, errors = process.communicate(timeout=300)
    return process.returncode, errors[-3000:]


@pytest.mark.prove
def test_killed_in_the_middle_of_an_epoch_and_resumed_it_ends_as_if_left_alone(tmp_path):
    data = write_digits(tmp_path / "digits", per_class=8)
    alone, killed = (tmp_path / name for name in ("alone", "killed"))
    both = start(data, alone), start(data, killed, kill_at=STEPS + 2)
    assert code(both[1])[0] == -signal.SIGKILL
    states = sorted((killed / "states").iterdir())
    # The state of the step before is whole: the kill came before its own was written.
    assert states[-1].name == f"step_{STEPS + 1:09d}.safetensors"
    assert not (killed / "model.keras").exists()
    ended = code(start(data, killed, resume=True))
    assert ended[0] == 0, ended[1]
    whole = code(both[0])
    assert whole[0] == 0, whole[1]
    models = [keras.models.load_model(out / "model.keras") for out in (alone, killed)]
    for one, other in zip(*(model.weights for model in models), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=one.path)
    histories = [
        [{name: value for name, value in row.items() if name != "seconds"} for row in rows]
        for out in (alone, killed)
        for rows in [csv.DictReader((out / "history.csv").read_text().splitlines())]
    ]
    assert histories[0] == histories[1] and len(histories[0]) == RECIPE.epochs
