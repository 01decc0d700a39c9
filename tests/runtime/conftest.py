"""One export of each profile, made when a test first asks for it."""

import keras
import pytest

from tests.small_vit import Artefacts


@pytest.fixture(scope="session")
def artefacts(tmp_path_factory):
    keras.utils.set_random_seed(7)
    return Artefacts(tmp_path_factory.mktemp("artefacts"))
