"""The environment of workers; the launchers that use it are in test_launchers.py."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keras_vit.training.launching import (
    commands,
    expanded,
    number_of,
    run_here,
    tasks_of_nodes,
    tf_config,
)

ROOT = Path(__file__).parents[2]


def worker(addresses, index):
    return {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}


@pytest.mark.parametrize(
    "environment, expected",
    [
        ({}, None),
        ({"TF_CONFIG": '{"task": 1}', "KERAS_VIT_WORKERS": "a"}, {"task": 1}),
        (
            {"KERAS_VIT_WORKERS": "a:7,b,b", "KERAS_VIT_WORKER": "2"},
            worker(["a:7", "b:12355", "b:12356"], 2),
        ),
        (
            {"KERAS_VIT_WORKERS": "vit-[0-2].vit", "JOB_COMPLETION_INDEX": "1"},
            worker(["vit-0.vit:12355", "vit-1.vit:12355", "vit-2.vit:12355"], 1),
        ),
        (
            {
                "SLURM_STEP_NODELIST": "n[08-09],x",
                "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
                "SLURM_PROCID": "3",
                "KERAS_VIT_PORT": "400",
            },
            worker(["n08:400", "n08:401", "n09:400", "n09:401", "x:400"], 3),
        ),
    ],
    ids=["alone", "TF_CONFIG", "by hand", "Kubernetes", "Slurm"],
)
def test_who_the_workers_are(environment, expected):
    assert tf_config(environment) == expected


def test_a_place_is_needed_and_must_exist():
    with pytest.raises(ValueError, match="KERAS_VIT_WORKER must be the place.*'a,b' alone"):
        tf_config({"KERAS_VIT_WORKERS": "a,b"})
    with pytest.raises(ValueError, match="from 0 to 1, as there are 2 workers. Received: 2"):
        tf_config({"KERAS_VIT_WORKERS": "a,b", "KERAS_VIT_WORKER": "2"})


def test_how_many_there_are():
    assert number_of(None) == number_of({"task": {}}) == 0
    assert number_of({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}}) == 3


def test_lists_of_hosts_and_tasks():
    assert expanded("r[1-2]n[9-10],a") == ["r1n9", "r1n10", "r2n9", "r2n10", "a"]
    assert expanded("n[1,007-008]") == ["n1", "n007", "n008"]
    assert tasks_of_nodes("4") == [4]
    assert tasks_of_nodes("1(x2),8,2(x3)") == [1, 1, 8, 2, 2, 2]


def test_each_host_is_told_what_to_run():
    assert commands("a,b:5", ["keras-vit", "train", "my data"]) == [
        "a: KERAS_VIT_WORKERS=a,b:5 KERAS_VIT_WORKER=0 keras-vit train 'my data'",
        "b:5: KERAS_VIT_WORKERS=a,b:5 KERAS_VIT_WORKER=1 keras-vit train 'my data'",
    ]


# A worker that writes whom it is told of, and ends with 7 if it is the second.
WORKER = """
import os, pathlib, sys, time
folder, place = pathlib.Path(sys.argv[1]), os.environ["KERAS_VIT_WORKER"]
(folder / place).write_text(os.environ["KERAS_VIT_WORKERS"])
while (folder / "wait").exists():
    time.sleep(0.01)
sys.exit(int(place) * 7)
"""
# The command's name, so that the import does without Keras.
LAUNCHER = """
import sys
folder, sys.argv[0] = sys.argv[1], "keras-vit"
from keras_vit.training.launching import run_here
sys.exit(-run_here(2, [sys.executable, "-c", %r, folder]))
"""


def test_workers_of_this_machine_know_each_other_and_a_failure_is_told(tmp_path):
    worker = [sys.executable, "-c", WORKER, str(tmp_path)]
    assert run_here(1, worker) == 0
    assert run_here(2, worker) == 7
    first, second = ((tmp_path / name).read_text() for name in "01")
    assert first == second
    assert re.fullmatch(r"localhost:(\d+),localhost:(?!\1$)\d+", first)


def test_notice_is_passed_on_to_the_workers(tmp_path):
    (tmp_path / "wait").touch()
    command = [sys.executable, "-c", LAUNCHER % WORKER, tmp_path]
    with subprocess.Popen(command, cwd=ROOT) as process:
        while len(list(tmp_path.iterdir())) < 3 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == signal.SIGTERM
