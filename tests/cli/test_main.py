"""The command line as a whole: help, version, errors, exit codes, the time it takes to start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keras_vit.version import __version__

ROOT = Path(__file__).parents[2]
VERBS = ("train", "evaluate", "predict", "explain", "export", "bench", "models", "tpu-check")

# What the console script does; keras_vit goes by the name that the process was started with.
SCRIPT = "import sys; sys.argv[0] = '/bin/keras-vit'; from keras_vit.cli.main import main; main()"


def process(*arguments, code=SCRIPT, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
    )


def test_help_lists_the_commands(cli):
    result = cli("--help")
    assert result.exit_code == 0
    assert all(verb in result.output for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_each_command_has_help(cli, verb):
    result = cli(verb, "--help")
    assert result.exit_code == 0
    assert f"keras-vit {verb}" in result.output or f" {verb} " in result.output


def test_version(cli):
    result = cli("--version")
    assert result.exit_code == 0
    assert result.output == f"keras-vit {__version__}\n"


@pytest.mark.parametrize("arguments", [("--help",), ("train", "--help"), ("--version",)])
def test_help_does_not_wait_for_keras(arguments):
    # The modules loaded at the end, rather than a time that depends on the machine.
    code = SCRIPT.replace("main()", "") + (
        "\ntry: main()\nfinally: print([n for n in ('keras', 'tensorflow', 'jax', 'matplotlib', "
        "'sklearn') if n in sys.modules], file=sys.stderr)"
    )
    result = process(*arguments, code=code)
    assert result.returncode == 0
    assert result.stderr.strip() == "[]"


def test_an_error_is_one_sentence_and_exit_code_1(cli):
    result = cli("predict", "missing.keras", "picture.png")
    assert result.exit_code == 1
    assert result.stderr == "Error: There is no model at missing.keras.\n"
    assert result.stdout == ""


@pytest.mark.parametrize("place", [0, 2, 5])
def test_debug_shows_the_traceback_wherever_it_stands(cli, place):
    arguments = ["predict", "missing.keras", "picture.png", "--top", "1"]
    result = cli(*arguments[:place], "--debug", *arguments[place:])
    assert isinstance(result.exception, FileNotFoundError)


def test_a_wrong_option_is_a_usage_error(cli):
    result = cli("predict", "--tpo", "3", "a", "b")
    assert result.exit_code == 2
    assert "--tpo" in result.stderr


def test_a_missing_backend_is_told_in_one_sentence():
    code = "import importlib.util as u; real = u.find_spec\n" + (
        "u.find_spec = lambda name, *a: None if name in ('tensorflow', 'jax') else real(name, *a)\n"
    ) + SCRIPT  # fmt: skip
    result = process("models", code=code, KERAS_BACKEND="tensorflow")
    assert result.returncode == 1
    assert result.stderr.startswith("Error: keras_vit needs a Keras backend")
    assert "Traceback" not in result.stderr


def test_a_real_process_writes_no_messages_of_tensorflow():
    result = process("models")
    assert result.returncode == 0
    assert result.stderr == ""
    assert "vit_b16" in result.stdout.splitlines()
