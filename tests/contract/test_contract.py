"""One set of checks for every case of `cases.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops

from tests.contract import backends
from tests.contract.cases import CASES, CHECKED

ROOT = Path(__file__).parents[2]
# Relative to the largest value: about four times what the cases show.
LIMITS = {"mixed_bfloat16": 0.04, "mixed_float16": 0.005, "float64": 1e-5}
MODELS = [name for name in CASES if name.startswith("vit")]
every_case = pytest.mark.parametrize("name", CHECKED)


def randomised(model, seed=5):
    """Gives every weight random values: new heads, tokens and biases are zero and hide errors."""
    generator = np.random.default_rng(seed)
    for weight in model.weights:
        noise = generator.normal(0.0, 0.3, weight.shape)
        start = {"gamma": 1, "moving_variance": 2}.get(weight.name, 0)
        weight.assign(noise + start)
    return model


def inputs_of(model, batch=3, seed=7):
    """Random inputs, in the structure that the model takes."""
    generator = np.random.default_rng(seed)

    def draw(tensor):
        shape = (batch, *tensor.shape[1:])
        if "int" in tensor.dtype:
            return generator.integers(0, 5, shape, tensor.dtype)
        return generator.normal(size=shape).astype(tensor.dtype)

    return keras.tree.map_structure(draw, model.input)


def first(inputs, count):
    """The first examples of one array or of each in a list."""
    return keras.tree.map_structure(lambda array: array[:count], inputs)


def outputs_of(call, inputs, **options):
    """The outputs as a list of numpy arrays."""
    outputs = keras.tree.flatten(call(inputs, **options))
    return [ops.convert_to_numpy(output) for output in outputs]


def assert_equal(values, references):
    for value, reference in zip(values, references, strict=True):
        np.testing.assert_array_equal(value, reference)


def assert_close(values, references, limit):
    for value, reference in zip(values, references, strict=True):
        assert value.shape == reference.shape
        difference = np.abs(value.astype("float64") - reference.astype("float64")).max()
        assert difference <= limit * np.abs(reference).max()


@pytest.fixture(scope="module")
def models():
    """Each case's float32 model with random weights, built once; checks must not change it."""
    return {name: randomised(CASES[name].model()) for name in CHECKED}


@every_case
def test_config_round_trip(name, models):
    made = CASES[name].make("float32")
    config = made.get_config()
    again = type(made).from_config(config)
    assert again.get_config() == config
    stored = json.dumps(keras.saving.serialize_keras_object(made))
    restored = keras.saving.deserialize_keras_object(json.loads(stored))
    assert type(restored) is type(made)
    assert json.dumps(keras.saving.serialize_keras_object(restored)) == stored

    other = again if isinstance(again, keras.Model) else CASES[name].as_model(again)
    other.set_weights(models[name].get_weights())
    inputs = inputs_of(models[name])
    assert_equal(outputs_of(other, inputs), outputs_of(models[name], inputs))


@every_case
def test_config_keeps_the_dtype_policy(name):
    made = CASES[name].make("mixed_bfloat16")
    again = type(made).from_config(made.get_config())
    assert again.get_config() == made.get_config()
    assert [w.dtype for w in again.weights] == [w.dtype for w in made.weights]


@every_case
def test_symbolic_and_eager_shapes_and_dtypes_agree(name, models):
    model = models[name]
    inputs = inputs_of(model)
    eager = outputs_of(model, inputs)
    assert [(None, *a.shape[1:]) for a in eager] == [t.shape for t in model.outputs]
    assert [a.dtype.name for a in eager] == [t.dtype for t in model.outputs]
    batched = keras.tree.map_structure(lambda array: array.shape, inputs)
    shapes = model.compute_output_shape(batched)
    if isinstance(shapes, dict):
        shapes = [shapes[key] for key in sorted(shapes)]
    shapes = shapes if isinstance(shapes, list) else [shapes]
    assert [tuple(shape) for shape in shapes] == [a.shape for a in eager]


@every_case
def test_build_alone_makes_the_same_weights(name, models):
    made = CASES[name].make("float32")
    if not isinstance(made, keras.Model):
        made.build(*((None, *shape) for shape in CASES[name].shapes))
    expected = [(w.path, w.shape) for w in models[name].weights]
    assert [(w.path, w.shape) for w in made.weights] == expected


@every_case
def test_any_batch_size(name, models):
    inputs = inputs_of(models[name])
    whole = outputs_of(models[name], inputs)
    traced = backends.with_unknown_batch(models[name])
    for count in backends.BATCHES:
        some = outputs_of(traced, first(inputs, count))
        assert_close(some, [array[:count] for array in whole], 1e-5)


@every_case
def test_every_trainable_weight_gets_a_gradient(name, models):
    model = models[name]
    generator = np.random.default_rng(11)

    def loss(outputs):
        return sum(
            ops.sum(output * generator.normal(size=output.shape).astype("float32"))
            for output in keras.tree.flatten(outputs)
        )

    gradients = backends.gradients(model, inputs_of(model), loss)
    missing = [path for path, value in gradients.items() if not np.abs(value).max() > 1e-4]
    assert not missing


@every_case
@pytest.mark.parametrize("dtype", backends.DTYPES)
def test_other_precisions(name, dtype, models):
    reference = models[name]
    model = CASES[name].model(dtype)
    assert {w.dtype for w in model.weights} <= {"float64" if dtype == "float64" else "float32"}
    model.set_weights(reference.get_weights())
    inputs = inputs_of(reference)
    call = backends.quick(model)
    outputs = call(keras.tree.map_structure(lambda a, t: a.astype(t.dtype), inputs, model.input))
    policy = keras.dtype_policies.get(dtype)
    expected = policy.compute_dtype if CASES[name].half else policy.variable_dtype
    outputs = keras.tree.flatten(outputs)
    assert {keras.backend.standardize_dtype(o.dtype) for o in outputs} == {expected}
    exact = [np.asarray(output, "float64") for output in outputs]
    assert_close(exact, outputs_of(reference, inputs), LIMITS[dtype])


@every_case
def test_training_noise_is_off_by_default(name, models):
    model, inputs = models[name], inputs_of(models[name])
    still = outputs_of(model, inputs)
    assert_equal(still, outputs_of(model, inputs, training=False))
    if len(model.variables) > len(model.weights):  # a seed's state is a variable, not a weight
        noisy = outputs_of(model, inputs, training=True)
        assert all(np.isfinite(array).all() for array in noisy)
        assert not np.allclose(noisy[0], still[0])


@every_case
def test_clone_model(name, models):
    clone = keras.models.clone_model(models[name])
    clone.set_weights(models[name].get_weights())
    inputs = inputs_of(models[name])
    assert_equal(outputs_of(clone, inputs), outputs_of(models[name], inputs))


@every_case
def test_compiled_equals_eager(name, models):
    inputs = inputs_of(models[name])
    compiled = outputs_of(backends.compiled(models[name]), inputs)
    assert_close(compiled, outputs_of(models[name], inputs), 1e-5)


# For whole models only: compiling is most of the time that these tests take.
@pytest.mark.parametrize("name", MODELS)
def test_compiled_predict_equals_eager(name, models):
    clone = keras.models.clone_model(models[name])
    clone.set_weights(models[name].get_weights())
    clone.compile(jit_compile=True)
    inputs = inputs_of(models[name])
    predicted = clone.predict(inputs, verbose=0)
    assert_close([predicted], outputs_of(models[name], inputs), 1e-5)


@pytest.fixture(scope="module")
def reloaded(models, tmp_path_factory):
    """A folder with each case's outputs from a fresh process."""
    folder = tmp_path_factory.mktemp("saved")
    for name, model in models.items():
        model.save(folder / f"{name}.keras")
        inputs = inputs_of(model)
        np.savez(folder / f"{name}.npz", *keras.tree.flatten(inputs))
    command = [sys.executable, "-m", "tests.contract.reload", folder]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return folder


@every_case
def test_saved_model_in_a_fresh_process(name, models, reloaded):
    with np.load(reloaded / f"{name}.out.npz") as stored:
        assert_equal(list(stored.values()), outputs_of(models[name], inputs_of(models[name])))
