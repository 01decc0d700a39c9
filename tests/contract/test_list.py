"""Every public layer and model is a case of the contract."""

import inspect

import keras
import pytest

from keras_vit import layers, models
from tests.contract.cases import CASES


@pytest.fixture(scope="module")
def made():
    return [case.make("float32") for case in CASES.values()]


def test_every_public_layer_is_in_the_contract(made):
    public = {name: getattr(layers, name) for name in layers.__all__}
    kinds = {
        name
        for name, value in public.items()
        if inspect.isclass(value)
        and issubclass(value, keras.layers.Layer)
        and value is not layers.Layer
    }
    assert kinds == {type(m).__name__ for m in made if not isinstance(m, keras.Model)}


def test_every_public_model_is_in_the_contract(made):
    public = {name for name in models.__all__ if inspect.isclass(getattr(models, name))}
    public -= {"Detector", "DetectorConfig"}  # boxes, not logits: tests/models/test_detector.py
    made = [m for m in made if isinstance(m, keras.Model)]
    assert public == {type(m).__name__ for m in made} | {type(m.config).__name__ for m in made}
