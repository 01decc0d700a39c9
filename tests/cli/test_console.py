"""Clear errors, and the messages of native code."""

import os
import subprocess
import sys

import pytest
import typer

from keras_vit.cli.console import bar, clear_errors, native_messages_hidden, sentence


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("`width`\nmust be\n  positive."), "`width` must be positive."),
        (ImportError("Run: pip install x"), "Run: pip install x"),
        (
            FileNotFoundError(2, "No such file or directory", "a b"),
            "No such file or directory: a b",
        ),
        (PermissionError(13, "Cannot write in the folder x"), "Cannot write in the folder x."),
        (FileExistsError("There is a run."), "There is a run."),
        (RuntimeError("odd"), "RuntimeError: odd (unexpected; --debug shows where)"),
        (MemoryError(), "MemoryError: MemoryError (unexpected; --debug shows where)"),
    ],
)
def test_sentence(error, text):
    assert sentence(error) == text


def test_the_frame_that_keras_puts_around_an_error_is_taken_off():
    import keras

    from keras_vit.layers import Patches

    with pytest.raises(ValueError) as error:
        Patches(4)(keras.ops.ones((1, 9, 8, 3)))
    assert sentence(error.value).startswith("`")
    assert "Arguments received" not in sentence(error.value)


def test_an_error_goes_to_stderr_with_exit_code_1(capsys):
    with pytest.raises(typer.Exit) as exit_, clear_errors():
        raise ValueError("[bold]brackets[/] stay.")
    assert exit_.value.exit_code == 1
    captured = capsys.readouterr()
    assert captured.err == "Error: [bold]brackets[/] stay.\n"
    assert captured.out == ""


def test_interruption_is_130(capsys):
    with pytest.raises(typer.Exit) as exit_, clear_errors():
        raise KeyboardInterrupt
    assert exit_.value.exit_code == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_exits_and_usage_errors_pass():
    with pytest.raises(typer.Exit) as exit_, clear_errors():
        raise typer.Exit(3)
    assert exit_.value.exit_code == 3
    with pytest.raises(typer.BadParameter), clear_errors():
        raise typer.BadParameter("no")


def test_native_messages_are_hidden_and_pythons_are_shown():
    code = (
        "import os, sys\n"
        "from keras_vit.cli.console import native_messages_hidden\n"
        "with native_messages_hidden():\n"
        "    os.write(2, b'native\\n'); print('python', file=sys.stderr)\n"
        "os.write(2, b'after\\n'); print('python after', file=sys.stderr)\n"
    )
    # By this name keras_vit leaves Keras alone, which has messages of its own.
    code = "import sys; sys.argv[0] = 'keras-vit'\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "python\nafter\npython after\n"


def test_stderr_comes_back_after_an_error():
    before = sys.stderr, os.fstat(2)
    with pytest.raises(ValueError), native_messages_hidden():
        raise ValueError
    assert (sys.stderr, os.fstat(2)) == before


@pytest.mark.parametrize(
    ("share", "text"), [(0, "░░░░"), (0.25, "█░░░"), (1, "████"), (1.5, "████")]
)
def test_bar(share, text):
    assert bar(share, width=4) == text
