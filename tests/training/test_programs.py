import keras
import numpy as np
import tensorflow as tf

from keras_vit.step import exact
from keras_vit.training.programs import build, evaluation_program, training_program

X, Y = np.arange(12, dtype="float32").reshape(6, 2) / 10, np.ones((6, 1), "float32")


def test_a_program_does_so_many_steps_and_sums_up_the_flags():
    model = exact(keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")]))
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)
    build(model, data.element_spec)  # this model has no weights before
    logs, flags = evaluation_program(model)(iter(data), tf.constant(3), tf.constant(1))
    errors = X.sum(axis=1) - 1
    np.testing.assert_allclose(logs["loss"], (errors**2).mean(), rtol=1e-6)
    np.testing.assert_allclose(logs["mae"], np.abs(errors).mean(), rtol=1e-6)
    assert flags.numpy() == 1 and model.optimizer.iterations.numpy() == 0
    kernel = np.ones((2, 1), "float32")
    bias = np.zeros(1, "float32")
    for rows, wanted in ((X[:2], Y[:2]), (X[2:4], Y[2:4])):
        error = rows @ kernel + bias - wanted
        kernel, bias = kernel - 0.1 * rows.T @ error, bias - 0.1 * error.sum(axis=0)
    training_program(model)(iter(data), tf.constant(2), tf.constant(0))
    np.testing.assert_allclose(model.get_weights()[0], kernel, rtol=1e-5)
    np.testing.assert_allclose(model.get_weights()[1], bias, rtol=1e-5)
