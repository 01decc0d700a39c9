import dataclasses
import json

import keras
import numpy as np
import pytest

from keras_vit.layers import Preprocessing
from keras_vit.models import ViT, ViTConfig
from keras_vit.models.base import head_dtype, input_dtype
from tests.contract.cases import SMALL


@pytest.fixture(scope="module")
def model():
    return ViT(ViTConfig(**SMALL))


def test_the_config_is_plain_data(model):
    config = json.loads(json.dumps(model.get_config()))
    assert ViT.from_config(config).config == model.config


def test_the_model_knows_its_preprocessing():
    given = Preprocessing(mean=(0.1,) * 5, std=(0.2,) * 5, resize="crop", crop=0.9)
    model = ViT(ViTConfig(**SMALL, preprocessing=given))
    assert model.preprocessing == dataclasses.replace(given, image_size=(6, 15))
    again = ViT.from_config(json.loads(json.dumps(model.get_config())))
    assert again.preprocessing == model.preprocessing


def test_a_new_model_has_the_global_policy():
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        model = ViT(ViTConfig(**SMALL))
    finally:
        keras.config.set_dtype_policy(before)
    assert model.policy.name == "mixed_bfloat16"
    assert model.get_layer("block_0").compute_dtype == "bfloat16"
    assert model.output.dtype == "float32"
    # The policy is the model's own from then on.
    again = ViT.from_config(model.get_config())
    assert again.get_layer("block_0").compute_dtype == "bfloat16"


def test_trainable_and_name_travel():
    model = ViT(ViTConfig(**SMALL), name="teacher")
    model.trainable = False
    again = ViT.from_config(model.get_config())
    assert again.name == "teacher"
    assert not again.trainable_weights


def test_frozen_layers_travel(tmp_path):
    model = ViT(ViTConfig(**SMALL))
    for name in ("patch_encoder", "block_0"):
        model.get_layer(name).trainable = False
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    trained = {"norm/gamma", "norm/beta", "head/kernel", "head/bias"}
    assert {weight.path for weight in again.trainable_weights} == trained
    # A file from before there was such a list has nothing frozen.
    config = model.get_config()
    del config["frozen"]
    assert len(ViT.from_config(config).trainable_weights) == len(model.weights)


def test_features_are_not_weights_of_their_own(model):
    names = [weight.path for weight in model.weights]
    assert len(names) == len(set(names))
    assert not any("features" in name for name in names)
    assert not any(layer.name == "features" for layer in model._flatten_layers())


def test_features_of_a_symbolic_tensor(model):
    images = keras.Input((6, 15, 5))
    features = model.features(images)
    probe = keras.Model(images, keras.layers.Dense(2)(features["pooled"]))
    values = np.random.default_rng(1).normal(size=(2, 6, 15, 5)).astype("float32")
    assert probe(values).shape == (2, 2)


def test_dtypes_of_the_ends():
    mixed, double = keras.DTypePolicy("mixed_float16"), keras.DTypePolicy("float64")
    assert input_dtype(mixed) == "float32" and input_dtype(double) == "float64"
    assert head_dtype(mixed).name == "float32" and head_dtype(double).name == "float64"
