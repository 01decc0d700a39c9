"""A toy model and a server for it."""

import shutil

import pytest

from tests.export.server.toys import serving, toy


@pytest.fixture(scope="session")
def toy_model(tmp_path_factory):
    """The folder of a SavedModel; not to be changed."""
    folder = tmp_path_factory.mktemp("toy") / "saved"
    toy(folder)
    return folder


@pytest.fixture(scope="session")
def other_model(tmp_path_factory):
    """The same with other numbers; not to be changed."""
    folder = tmp_path_factory.mktemp("toy") / "other"
    toy(folder, scale=3.0)
    return folder


@pytest.fixture
def models(toy_model, tmp_path):
    """A folder with version 1 of the model `toy`."""
    shutil.copytree(toy_model, tmp_path / "models" / "toy" / "1")
    return tmp_path / "models"


@pytest.fixture(scope="session")
def server(toy_model, tmp_path_factory):
    """A server for `toy`; not to be changed."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(toy_model, folder / "toy" / "1")
    with serving(folder) as running:
        yield running
