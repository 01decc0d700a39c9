import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.step import exact
from keras_vit.step.gradients import example_loss, share_of_gradient


@pytest.mark.parametrize("replicas", [1, 2])
def test_masks_and_repeated_rows(scenario, replicas):
    numbers = scenario(replicas, "masks_and_embeddings")
    assert max(numbers["weights"], numbers["history"], numbers["adam"]) < 1e-12
    # Keras's Adam takes the sum of the squares of repeated rows, even on one device.
    assert numbers["keras"] > 1e-3


def built(layer):
    inputs = keras.Input((3,))
    model = exact(keras.Model(inputs, layer(inputs)))
    model.compile("sgd", "mse")
    model.optimizer.build(model.trainable_variables)
    return model


def share(model, examples):
    batch = tf.ones((examples, 3)), tf.zeros((examples, 3))
    return share_of_gradient(batch, {}, model, example_loss)


def test_a_share_assigns_nothing_and_tells_what_it_would():
    model = built(keras.layers.BatchNormalization(momentum=0.75))
    before = model.get_weights()
    sums, states, _ = share(model, 5)
    for kept, now in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(kept, now)
    assert float(sums["examples"]) == float(sums["weight"]) == 5
    mean, variance = (np.asarray(state) for state in states.values())
    np.testing.assert_allclose(mean, 0.25)
    np.testing.assert_allclose(variance, 0.75)


def test_an_empty_share_adds_nothing():
    model = built(keras.layers.BatchNormalization())
    sums, states, _ = share(model, 0)
    for value in [sums["loss"], sums["weight"], *sums["gradients"]]:
        np.testing.assert_array_equal(value, 0 * np.asarray(value.shape and np.zeros(value.shape)))
    mean, variance = (np.asarray(state) for state in states.values())
    assert not mean.any() and (variance == 1).all()


def test_random_numbers_that_nobody_holds():
    class Noise(keras.layers.Layer):
        def call(self, inputs):
            return inputs + keras.random.normal((3,))

    keras.random.normal((1,))  # the global generator is there
    with pytest.raises(ValueError, match="`keras.random.SeedGenerator`, an attribute"):
        share(built(Noise()), 2)
