import pytest

from keras_vit.data import write_digits
from keras_vit.training import recipe


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """A folder of 120 digits."""
    return write_digits(tmp_path_factory.mktemp("data") / "digits", per_class=12)


@pytest.fixture(scope="session")
def quick():
    """A recipe of a few seconds, with every kind of randomness on."""
    changes = {"config.width": 16, "config.depth": 1, "config.dropout": 0.1, "batch_size": 32}
    changes |= {"config.drop_path": 0.1, "epochs": 2, "warmup_epochs": 1}
    return recipe("digits", changes)
