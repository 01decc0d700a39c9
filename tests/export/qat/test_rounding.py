import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.export.qat.rounding import fake_quant, fake_quant_kernel

X = np.random.default_rng(0).normal(0, 3, (7, 11)).astype("float32")


@pytest.mark.parametrize("ends", [(-2.0, 3.0), (0.0, 5.0), (-7.0, 0.0), (-30.0, 40.0)])
def test_the_values_are_those_of_tensorflows_operator(ends):
    expected = tf.quantization.fake_quant_with_min_max_args(X, *ends)
    np.testing.assert_allclose(fake_quant(X, *ends), expected, atol=1e-6 * (ends[1] - ends[0]))


def test_a_range_that_leaves_zero_out_is_widened_to_it():
    np.testing.assert_allclose(fake_quant(X, 1.0, 5.0), fake_quant(X, 0.0, 5.0))
    assert np.isfinite(fake_quant(X, 0.0, 0.0)).all()


def test_gradients_go_through_inside_and_to_the_range_outside():
    x, high = tf.Variable([0.24, 1.3, 9.0]), tf.Variable(2.55)
    with tf.GradientTape() as tape:
        y = fake_quant(x, 0.0, high)
    np.testing.assert_allclose(y, [0.24, 1.3, 2.55], rtol=1e-6)
    through, to_the_range = tape.gradient(y, [x, high])
    assert through.numpy().tolist() == [1, 1, 0]
    assert float(to_the_range) == pytest.approx(1.0, abs=1e-4)


def test_the_error_of_rounding_goes_to_the_step():
    high = tf.Variable(255.0)  # a step of one
    with tf.GradientTape() as tape:
        y = fake_quant(tf.constant([3.25]), 0.0, high)
    assert float(tape.gradient(y, high)) == pytest.approx(-0.25 / 255)


def test_a_kernel_against_numpy():
    step = np.abs(X).max(axis=0) / 127
    np.testing.assert_allclose(fake_quant_kernel(X), np.round(X / step) * step, rtol=1e-5)
    kernel = tf.Variable(X)
    with tf.GradientTape() as tape:
        total = keras.ops.sum(fake_quant_kernel(kernel))
    assert (tape.gradient(total, kernel).numpy() == 1).all()
