import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.layers.activations import ACTIVATIONS
from keras_vit.layers.attention import softmax, softmax_gradient
from keras_vit.layers.swiglu import gated
from keras_vit.one_pass import gradient_from_value, one_pass


def value_and_gradients(function, upstream, *inputs):
    inputs = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
    return [y, *tape.gradient(y, inputs, upstream)]


def drawn(count, dtype, shape=(7, 11)):
    random = np.random.default_rng(3)
    return [tf.cast(2 * random.normal(size=shape), dtype) for _ in range(count)]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_value_and_gradient_are_those_of_the_function(name):
    """In float64, where the compiled form is held against the plain one to the last digits."""
    upstream, x = drawn(2, "float64")
    plain = value_and_gradients(ACTIVATIONS[name], upstream, x)
    fast = value_and_gradients(one_pass(ACTIVATIONS[name]), upstream, x)
    for expected, found in zip(plain, fast, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def test_several_inputs_each_get_their_gradient():
    upstream, gate, value = drawn(3, "float64")
    plain = value_and_gradients(gated("silu"), upstream, gate, value)
    fast = value_and_gradients(one_pass(gated("silu")), upstream, gate, value)
    for expected, found in zip(plain, fast, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_rounded_once(dtype):
    """At most half a step of the dtype from float64; the plain form rounds in between."""
    upstream, x = drawn(2, dtype, (211, 13))
    exact = value_and_gradients(
        ACTIVATIONS["gelu"], *(tf.cast(v, "float64") for v in (upstream, x))
    )
    fast = value_and_gradients(one_pass(ACTIVATIONS["gelu"]), upstream, x)
    for expected, found in zip(exact, fast, strict=True):
        assert found.dtype == dtype
        step = keras.ops.convert_to_numpy(tf.cast(found, "float64"))
        limit = (2.0**-8 if dtype == "bfloat16" else 2.0**-11) * np.abs(step) + 1e-6
        assert np.all(np.abs(step - expected) <= limit)


def test_one_program_serves_every_layer():
    gelu = ACTIVATIONS["gelu"]
    assert one_pass(gelu) is one_pass(gelu)


def test_a_whole_model_compiled_by_xla_takes_it_in():
    (x,) = drawn(1, "float32")
    fast = tf.function(one_pass(ACTIVATIONS["gelu"]), jit_compile=True)
    np.testing.assert_allclose(fast(x), ACTIVATIONS["gelu"](x), rtol=1e-5, atol=1e-6)


def test_other_backends_keep_the_function():
    code = (
        "import os; os.environ['KERAS_BACKEND'] = 'jax'\n"
        "from keras_vit.one_pass import one_pass\n"
        "assert one_pass(abs) is abs\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_a_gradient_from_the_value(dtype):
    upstream, scores = drawn(2, dtype)
    exact = value_and_gradients(
        tf.nn.softmax, tf.cast(upstream, "float64"), tf.cast(scores, "float64")
    )
    fast = gradient_from_value(softmax, softmax_gradient)
    found = value_and_gradients(fast, upstream, scores)
    limit = 1e-12 if dtype == "float64" else 2.0**-7
    for want, have in zip(exact, found, strict=True):
        np.testing.assert_allclose(tf.cast(have, "float64"), want, atol=limit)
    assert gradient_from_value(softmax, softmax_gradient) is fast


def test_a_softmax_keeps_one_tensor_for_its_gradient():
    """What the backward pass takes from the forward pass is the value alone, in its own dtype."""
    (scores,) = drawn(1, "bfloat16")
    fast = gradient_from_value(softmax, softmax_gradient)
    with tf.GradientTape() as tape:
        tape.watch(scores)
        value = fast(scores)
    gradient = tf.function(lambda up: tape.gradient(value, scores, up))
    kept = gradient.get_concrete_function(tf.ones_like(scores)).captured_inputs
    assert [tensor.dtype for tensor in kept if tensor.shape == scores.shape] == ["bfloat16"]
