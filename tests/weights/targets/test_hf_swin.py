"""What transformers is told; that it then computes the same is in `../test_family_files.py`."""

import pytest

from keras_vit.models import Swin, SwinConfig
from keras_vit.weights.targets.hf import target

TINY = {"image_size": 32, "patch_size": 2, "width": 8, "depths": (1, 1), "num_heads": (1, 2)}


def told(**fields):
    config = SwinConfig(**{**TINY, "window_size": 4, "norm_epsilon": 1e-5, **fields})
    return config, target(Swin(config))


def test_config_of_a_swin():
    config, found = told(num_classes=2)
    content = found.files(config)["config.json"]
    assert not any(found.in_the_way.values())
    assert (content["model_type"], content["depths"], content["window_size"]) == ("swin", [1, 1], 4)
    assert content["id2label"] == {"0": "LABEL_0", "1": "LABEL_1"}


@pytest.mark.parametrize(
    "fields",
    [
        {"norm_epsilon": 1e-6},
        {"window_size": (4, 8)},
        {"image_size": 8},
        {"representation_size": 3},
    ],
    ids=str,
)
def test_what_transformers_cannot_state(fields):
    (name,) = fields
    assert told(**fields)[1].in_the_way.keys() >= {name}
