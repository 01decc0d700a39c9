"""`keras-vit train`."""

import functools
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keras_vit.cli.train import parse_changes

ROOT = Path(__file__).parents[2]


def test_a_run_writes_its_models_and_says_where(cli, digits, tmp_path):
    folder = tmp_path / "run"
    small = ["--set", "epochs=1", "--set", "warmup_epochs=0", "--set", "config.depth=1"]
    result = cli("train", "digits", digits, "--out", folder, *small, "--seed", "3")
    assert result.exit_code == 0, result.output
    assert f"Written to {folder}\n" in result.stdout
    assert "held-out images" in result.stdout
    assert (folder / "model.keras").is_file()

    again = cli("train", "digits", digits, "--out", folder, *small)
    assert again.exit_code == 1
    assert str(folder) in again.stderr

    written = (folder / "history.csv").read_text()
    more = ["--seed", "3", "--resume-if-any", "--strategy", "one"]
    again = cli("train", "digits", digits, "--out", folder, *small, *more)
    assert again.exit_code == 0, again.output
    assert (folder / "history.csv").read_text() == written


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["digits", "--strategy", "many"], "one of ['auto', 'mirrored', 'one', 'tpu', 'workers']"),
        (["no_such_recipe"], "vit_fashion_mnist"),
        (["digits", "--set", "epoch=3"], "epochs"),
        (["digits", "--set", "epochs"], "`--set` must be FIELD=VALUE. Received: 'epochs'."),
        (["digits", "--set", "config.withd=3"], "width"),
        (["digits", "--set", "config.width=100", "--set", "config.num_heads=12"], "num_heads=12"),
        (["digits", "--set", "config.image_size=9"], "9"),
    ],
)
def test_a_wrong_request_is_one_sentence(cli, digits, tmp_path, arguments, text):
    result = cli("train", arguments[0], digits, "--out", tmp_path / "run", *arguments[1:])
    assert result.exit_code == 1
    assert text in result.stderr
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    assert "unexpected" not in result.stderr


def test_changes_may_contain_equals_signs():
    assert parse_changes(["a=b=c", " x =1"]) == {"a": "b=c", "x": "1"}


def test_ctrl_c_keeps_the_last_state_and_says_where(digits, tmp_path):
    folder = tmp_path / "run"
    # More epochs than end before a busy machine has sent the signal.
    command = [
        *(sys.executable, "-m", "keras_vit.cli.main", "train", "digits", digits),
        *("--out", folder, "--set", "epochs=100000"),
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A shell ignores SIGINT for what it starts in the background, tests and their children too.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, cwd=ROOT, preexec_fn=heed, **pipes) as run:
        for line in run.stderr:
            if line.startswith("epoch 2/"):
                break
        run.send_signal(signal.SIGINT)
        try:
            output, errors = run.communicate(timeout=60)
        finally:
            run.kill()
    assert run.returncode == 130
    states = sorted((folder / "states").iterdir())
    assert f"{states[-1]}; go on with --resume" in output
    assert errors.endswith("Interrupted.\n")
    assert "Traceback" not in errors
