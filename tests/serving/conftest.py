"""A small model for coloured pictures, and a server for it in a process of its own."""

import keras
import numpy as np
import pytest

from keras_vit.cli.served import Served
from keras_vit.export import export
from tests.small_vit import small_vit


@pytest.fixture(scope="session")
def network():
    """The Keras model."""
    keras.utils.set_random_seed(7)
    return small_vit(channels=3)


@pytest.fixture(scope="session")
def exported(network, tmp_path_factory):
    """The path of version 1 of it, in a folder `vit`; not to be changed."""
    return export(network, "server", tmp_path_factory.mktemp("served") / "vit" / "1")


@pytest.fixture(scope="session")
def served(exported):
    """A server for it that stops slow clients after two seconds."""
    with Served(exported.parents[1], "--timeout-s", 2, "--max-body-mb", 1) as server:
        yield server


@pytest.fixture(scope="session")
def logits(network):
    """Function from pixels to the Keras model's own logits."""

    def logits(pixels):
        images = network.preprocessing.normalize(np.asarray(pixels))
        return keras.ops.convert_to_numpy(network(images, training=False))

    return logits
