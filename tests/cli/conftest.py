"""What the tests of the commands share: a model, pictures, and a way to run a command."""

import os

import pytest
from typer.testing import CliRunner


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """A folder of digits, eight of each class."""
    from keras_vit.data import write_digits

    return write_digits(tmp_path_factory.mktemp("data") / "digits", per_class=8)


@pytest.fixture(scope="session")
def network():
    """A ViT that knows the digits a little."""
    from keras_vit import create_model
    from tests.small_vit import small_vit

    model = small_vit()
    # Its classes are called as the folders are.
    names = tuple(str(number) for number in range(10))
    fields = {**vars(model.config)}
    fields["preprocessing"] = {**vars(model.preprocessing), "class_names": names}
    twin = create_model("vit_ti16", **fields)
    twin.set_weights(model.get_weights())
    return twin


@pytest.fixture(scope="session")
def model(network, tmp_path_factory):
    """The path of its `.keras` file."""
    path = tmp_path_factory.mktemp("model") / "model.keras"
    network.save(path)
    return path


@pytest.fixture
def cli(monkeypatch):
    """Runs `keras-vit`: call it with arguments, get the finished command."""
    from keras_vit.cli.main import app

    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments):
        return CliRunner().invoke(app, [os.fspath(argument) for argument in arguments])

    return run


@pytest.fixture
def row_commands(tmp_path, monkeypatch, cli):
    """The commands that a row runs: in this process, with digits in the data set's place."""
    from keras_vit.cli import row_commands
    from keras_vit.data import write_digits

    write_digits(tmp_path / "pictures" / "train", per_class=4)
    write_digits(tmp_path / "pictures" / "test", per_class=2)
    commands = []

    def run(*arguments):
        commands.append(arguments[:2])
        done = cli(*arguments)
        assert done.exit_code == 0, done.output

    monkeypatch.setattr(row_commands, "pictures", lambda work, source: tmp_path / "pictures")
    monkeypatch.setattr(row_commands, "command", run)
    return commands
