from importlib import metadata

import pytest

from keras_vit.version import __version__


def test_version_is_a_release_number():
    assert all(part.isdigit() for part in __version__.split("."))


def test_installed_version_is_the_one_in_the_file():
    try:
        installed = metadata.version("keras-vit-kit")
    except metadata.PackageNotFoundError:
        pytest.skip("keras-vit-kit is not installed here: the tests run from a bare checkout")
    assert installed == __version__
