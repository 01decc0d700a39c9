"""ViT against timm, transformers and numpy, with every weight random.

The stored references come from `tests/references/vit_reference.py`.
"""

import json
import pathlib
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_vit.models import ViT, ViTConfig
from tests.oracles import vit_numpy
from tests.references import vit_cases

TESTS = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = TESTS / "fixtures" / "vit"
LIMITS = {"float32": 1e-5, "float64": 1e-10}
on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="Keras 3.15 turns float64 into float32 on other backends, and gradients are the tape's",
)
DTYPES = ["float32", pytest.param("float64", marks=on_tensorflow)]

# What no reference package has; numpy alone is the oracle.
NUMPY_CASES = {
    "sincos2d": {"position": "sincos2d", "width": 24},
    "sincos2d_gap_rectangle": {
        **vit_cases.RECTANGLE,
        "position": "sincos2d",
        "width": 24,
        "pooling": "gap",
        "class_token": False,
        "representation_size": 11,
    },
    "none_map_tanh": {
        **vit_cases.RECTANGLE,
        "position": "none",
        "pooling": "map",
        "class_token": False,
        "activation": "gelu_tanh",
        "layer_scale": 0.1,
        "representation_size": 11,
    },
}


def relative_difference(value, reference):
    value, reference = np.asarray(value), np.asarray(reference)
    assert value.shape == reference.shape
    return np.abs(value - reference).max() / np.abs(reference).max()


def part(fixture, prefix):
    """The arrays below `prefix/`, by weight path."""
    return {
        name.removeprefix(f"{prefix}/"): fixture[name]
        for name in fixture
        if name.startswith(f"{prefix}/")
    }


def load(name):
    with np.load(FIXTURES / f"{name}.npz") as arrays:
        fixture = dict(arrays)
    config = json.loads(str(fixture.pop("config")))
    for field in ("image_size", "patch_size"):
        config[field] = tuple(config[field])
    assert config == vit_cases.CASES[name], f"run vit_reference.py --only {name}"
    return config, fixture


def assign(model, weights):
    """Gives the model all of `weights` by path; neither side may have more."""
    variables = {weight.path: weight for weight in model.weights}
    assert sorted(variables) == sorted(weights)
    for path, variable in variables.items():
        assert tuple(variable.shape) == weights[path].shape, path
        variable.assign(weights[path])


def model_of(config, weights, dtype):
    model = ViT(ViTConfig(**config), dtype=dtype)
    assign(model, weights)
    return model


def random_weights(config, seed):
    generator = np.random.default_rng(seed)
    weights = {}
    for weight in ViT(ViTConfig(**config)).weights:
        value = generator.normal(0.0, 0.15, tuple(weight.shape)).astype("float32")
        weights[weight.path] = value + (1 if "/gamma" in weight.path else 0)
    return weights


def test_every_case_has_a_stored_reference():
    assert {path.stem for path in FIXTURES.iterdir()} == set(vit_cases.CASES)


def test_reference_script_lists_its_cases():
    script = TESTS / "references" / "vit_reference.py"
    listed = subprocess.run([sys.executable, script, "--list"], capture_output=True, check=True)
    assert listed.stdout.decode().split() == list(vit_cases.CASES)


@pytest.mark.parametrize("name", vit_cases.CASES)
def test_numpy_agrees_with_reference(name):
    config, fixture = load(name)
    ours = vit_numpy.forward(fixture["image"], part(fixture, "weights"), config)
    for key in ("block_outputs", "features", "logits"):
        assert relative_difference(ours[key], fixture[key]) <= 1e-12, key


@pytest.mark.parametrize("name", vit_cases.CASES)
def test_model_agrees_in_float32(name):
    config, fixture = load(name)
    logits = model_of(config, part(fixture, "weights"), "float32")(fixture["image"])
    assert relative_difference(logits, fixture["logits"]) <= LIMITS["float32"]


@on_tensorflow
@pytest.mark.parametrize("name", vit_cases.CASES)
def test_model_agrees_in_float64(name):
    """Block by block, in the features and in the logits, from one pass through one graph."""
    config, fixture = load(name)
    model = model_of(config, part(fixture, "weights"), "float64")
    blocks = [model.get_layer(f"block_{i}").output for i in range(config["depth"])]
    everything = keras.Model(
        model.input,
        {
            "block_outputs": keras.ops.stack(blocks),
            "logits": model.output,
            **model.features(model.input),
        },
    )(fixture["image"].astype("float64"))
    # Where the norm follows the pooling, the reference has no normed tokens to compare.
    if config["pooling"] != "gap_then_norm":
        tokens = np.concatenate([everything["prefix"], everything["tokens"]], axis=1)
        assert relative_difference(tokens, fixture["features"]) <= LIMITS["float64"]
    expected = vit_numpy.forward(fixture["image"], part(fixture, "weights"), config)
    for key in ("block_outputs", "logits"):
        assert relative_difference(everything[key], fixture[key]) <= LIMITS["float64"], key
    assert relative_difference(everything["pooled"], expected["pooled"]) <= LIMITS["float64"]


@on_tensorflow
@pytest.mark.parametrize("name", vit_cases.GRADIENT_CASES)
def test_gradients_agree_with_reference(name):
    import tensorflow as tf

    config, fixture = load(name)
    model = model_of(config, part(fixture, "weights"), "float64")
    variables = {weight.path: weight.value for weight in model.trainable_weights}
    with tf.GradientTape() as tape:
        logits = model(fixture["image"].astype("float64"), training=True)
        loss = tf.reduce_sum(logits * fixture["cotangent"])
    gradients = dict(zip(variables, tape.gradient(loss, list(variables.values())), strict=True))
    expected = part(fixture, "gradients")
    assert sorted(gradients) == sorted(expected)
    for path, gradient in gradients.items():
        # The references are stored in float32, which is exact to 6e-8. A bias of the keys has no
        # gradient (it moves all logits of a query alike): it is measured with query and value.
        assert relative_difference(gradient, expected[path]) <= 1e-6, path


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NUMPY_CASES)
def test_model_agrees_with_numpy(name, dtype):
    config = {**vit_cases.BASE, **NUMPY_CASES[name]}
    weights = random_weights(config, seed=len(name))
    size = (*config["image_size"], config["channels"])
    image = np.random.default_rng(1).normal(size=(2, *size)).astype("float32")
    logits = model_of(config, weights, dtype)(image.astype(dtype))
    expected = vit_numpy.forward(image, weights, config)["logits"]
    assert relative_difference(logits, expected) <= LIMITS[dtype]
