"""The launchers of training/launch/: those that a CPU can run are run, beside one device."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit.training import recipe, train

ROOT = Path(__file__).parents[2]
LAUNCH = ROOT / "training" / "launch"
SCRIPTS = sorted(LAUNCH.glob("*.sh"))
MANIFESTS = sorted(LAUNCH.glob("*.yaml"))
# No dropout: replicas draw masks of their own. Batches of an odd number, for uneven shares.
CHANGES = {"config.width": "16", "config.depth": "1", "epochs": "2", "warmup_epochs": "1"}
CHANGES |= {"batch_size": "31"}

# Stands in for the command: the same, on a CPU that is divided into that many devices.
KERAS_VIT = f"""#!{sys.executable}
import os, sys
sys.argv[0] = "keras-vit"
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
device = tf.config.LogicalDeviceConfiguration()
tf.config.set_logical_device_configuration(cpu, [device] * int(os.environ.get("DEVICES", 1)))
from keras_vit.cli.main import main
main()
"""
# Stands in for Slurm's: two tasks on this machine.
SRUN = """#!/usr/bin/env bash
while [[ $1 == --* ]]; do shift; done
export SLURM_STEP_NODELIST=localhost SLURM_STEP_TASKS_PER_NODE=2
for rank in 0 1; do SLURM_PROCID=$rank "$@" & tasks+=("$!"); done
code=0
for task in "${tasks[@]}"; do wait "$task" || code=$?; done
exit "$code"
"""
# Stands in for any command: writes the words that it is called with.
SAYS = '#!/usr/bin/env bash\necho "$(basename "$0") $*" >> "$SAID"\n'


@pytest.fixture
def commands(tmp_path):
    """`commands(name=code, ...)` puts commands before all others; returns the environment."""

    def put(**codes):
        folder = tmp_path / "bin"
        folder.mkdir()
        for name, code in codes.items():
            (folder / name).write_text(code)
            (folder / name).chmod(0o755)
        path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])
        more = {"PYTHONPATH": str(ROOT), "SAID": str(tmp_path / "said"), "CUDA_VISIBLE_DEVICES": ""}
        return os.environ | more | {"PATH": path}

    return put


@pytest.fixture(scope="module")
def alone(digits, tmp_path_factory):
    """What one device learns."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    return train(recipe("digits", CHANGES), str(digits), folder, verbose=False)


def settings(digits, run):
    changes = [word for field, value in CHANGES.items() for word in ("--set", f"{field}={value}")]
    return ["digits", str(digits), *changes, "--out", str(run)]


def ports():
    """A free port before another one."""
    while True:
        with socket.create_server(("localhost", 0)) as first:
            port = first.getsockname()[1]
            try:
                socket.create_server(("localhost", port + 1)).close()
            except OSError:
                continue
            return port


def check_the_same(run, alone):
    model = keras.models.load_model(run / "model.keras")
    for ours, weight in zip(model.get_weights(), alone.model.get_weights(), strict=True):
        np.testing.assert_allclose(ours, weight, atol=1e-5, rtol=0)
    rows = [row.split(",") for row in (run / "history.csv").read_text().splitlines()]
    for row, epoch in zip(rows[1:], alone.history, strict=True):
        for name, value in zip(rows[0], row, strict=True):
            if name != "seconds":
                assert float(value) == pytest.approx(epoch[name], abs=1e-5)


def check_runs(command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


@pytest.mark.prove
def test_gpus(digits, alone, tmp_path, commands):
    environment = commands(**{"keras-vit": KERAS_VIT}) | {"DEVICES": "2"}
    command = [LAUNCH / "gpus.sh", *settings(digits, tmp_path / "run")]
    check_runs(command, environment)
    check_the_same(tmp_path / "run", alone)
    # Started again, it finds that all is done.
    written = (tmp_path / "run" / "history.csv").read_text()
    check_runs(command, environment)
    assert (tmp_path / "run" / "history.csv").read_text() == written


@pytest.mark.prove
def test_workers(digits, alone, tmp_path, commands):
    command = [sys.executable, LAUNCH / "workers.py", "2", *settings(digits, tmp_path / "run")]
    output = check_runs(command, commands())
    check_the_same(tmp_path / "run", alone)
    assert output.count("Written to") == 1  # the chief tells


@pytest.mark.prove
def test_slurm(digits, alone, tmp_path, commands):
    environment = commands(srun=SRUN, **{"keras-vit": KERAS_VIT}) | {"KERAS_VIT_PORT": str(ports())}
    check_runs([LAUNCH / "slurm.sh", *settings(digits, tmp_path / "run")], environment)
    check_the_same(tmp_path / "run", alone)


@pytest.mark.prove
def test_kubernetes_workers(digits, alone, tmp_path, commands):
    """The container's command, arguments and environment, names of pods and paths apart."""
    import yaml

    environment = commands(**{"keras-vit": KERAS_VIT})
    _, job = yaml.safe_load_all((LAUNCH / "kubernetes_workers.yaml").read_text())
    container = job["spec"]["template"]["spec"]["containers"][0]
    command = [*container["command"], *container["args"]]
    at = command.index("--out")
    command[2:at] = settings(digits, "")[:-2]
    command[command.index("--out") + 1] = str(tmp_path / "run")
    (hosts,) = container["env"]
    port = ports()
    assert hosts["value"] == "vit-[0-1].vit"
    environment[hosts["name"]] = f"localhost:[{port}-{port + 1}]"
    workers = [
        subprocess.Popen(command, env=environment | {"JOB_COMPLETION_INDEX": str(index)})
        for index in range(job["spec"]["completions"])
    ]
    assert [worker.wait(240) for worker in workers] == [0, 0]
    check_the_same(tmp_path / "run", alone)


@pytest.mark.prove
def test_notice_ends_all_workers_with_their_state(digits, tmp_path, commands):
    command = [sys.executable, LAUNCH / "workers.py", "2", *settings(digits, tmp_path / "run")]
    command += ["--set", "epochs=100000"]
    states = tmp_path / "run" / "states"
    with subprocess.Popen(command, env=commands(), stdout=subprocess.PIPE, text=True) as process:
        while not any(states.glob("step_*")) and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 42
    assert f"The last state is {max(states.iterdir())}; go on with --resume" in output


@pytest.mark.prove
def test_what_other_hosts_have_to_run(commands):
    command = [sys.executable, LAUNCH / "workers.py", "a,b", "digits", "data", "--out", "my run"]
    lines = check_runs(command, commands()).splitlines()
    assert lines[1] == (
        "b: KERAS_VIT_WORKERS=a,b KERAS_VIT_WORKER=1 keras-vit train digits data --out 'my run' "
        "--strategy workers --resume-if-any"
    )


def test_a_slurm_job_that_has_saved_its_state_queues_again(tmp_path, commands):
    environment = commands(srun="#!/bin/sh\nexit 42\n", scontrol=SAYS) | {"SLURM_JOB_ID": "17"}
    done = subprocess.run([LAUNCH / "slurm.sh", "digits"], env=environment)
    assert done.returncode == 42
    assert (tmp_path / "said").read_text() == "scontrol requeue 17\n"


@pytest.mark.parametrize("script", ["tpu_vm.sh", "tpu_pod.sh"])
def test_what_the_cloud_is_asked_for(tmp_path, commands, script):
    """There is no TPU here: the calls are checked, not what they do."""
    missing = SAYS + '[ "$4" != describe ]\n'  # so that it is created
    environment = commands(gcloud=missing) | {"ZONE": "z"}
    command = [LAUNCH / script, "it", "digits", "tfds:my data", "--out", "run"]
    check_runs(command, environment)
    said = (tmp_path / "said").read_text().splitlines()
    calls = [line.removeprefix("gcloud compute tpus tpu-vm ") for line in said]
    assert [call.split()[:2] for call in calls][:4] == [
        ["describe", "it"], ["create", "it"], ["ssh", "it"], ["ssh", "it"],
    ]  # fmt: skip
    assert all(call.endswith("--zone z") for call in calls)
    assert "keras-vit train 'digits' 'tfds:my data' '--out' 'run' --strategy tpu" in calls[3]
    assert ("--worker=all" in calls[2]) == ("--worker=0" in calls[3]) == (script == "tpu_pod.sh")


def test_what_is_not_run_says_so():
    not_run = {path.name for path in [*SCRIPTS, *MANIFESTS] if "Not run" in path.read_text()}
    assert not_run == {
        "kubernetes_gpus.yaml", "kubernetes_workers.yaml", "slurm.sh", "tpu_pod.sh", "tpu_vm.sh",
    }  # fmt: skip


@pytest.mark.prove
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_sound(path):
    check_runs([Path(sys.executable).parent / "shellcheck", path], os.environ)


@pytest.mark.prove
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_manifests_keep_to_their_schemas(path):
    import kubernetes_validate
    import yaml

    version = kubernetes_validate.latest_version()
    documents = list(yaml.safe_load_all(path.read_text()))
    for document in documents:
        kubernetes_validate.validate(document, version, strict=True)
    documents[-1]["spec"]["completion"] = 2  # a slip of the pen
    with pytest.raises(kubernetes_validate.ValidationError, match="completion"):
        kubernetes_validate.validate(documents[-1], version, strict=True)


def test_the_number_of_kubernetes_workers_stands_everywhere():
    text = (LAUNCH / "kubernetes_workers.yaml").read_text()
    (count,) = re.findall(r"completions: (\d+)", text)
    assert f"parallelism: {count}" in text
    assert f"vit-[0-{int(count) - 1}].vit" in text
