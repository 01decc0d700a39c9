import subprocess

import pytest

from keras_vit.cli import row_commands as commands


def test_a_command_that_fails_is_an_error(capfd):
    with pytest.raises(subprocess.CalledProcessError):
        commands.command("no-such-command")
    assert "no-such-command" in capfd.readouterr().err


def test_what_was_measured_is_read(tmp_path, row_commands):
    (tmp_path / "kept.json").write_text('{"accuracy": 0.25}')
    found = commands.accuracy_on_tests("model.keras", tmp_path, tmp_path / "kept.json")
    assert found == 0.25 and row_commands == []
