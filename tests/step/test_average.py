import keras
import numpy as np
import pytest

from keras_vit.step import averaged, exact
from keras_vit.step.average import moved


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_averages_are_those_of_keras_and_weights_stay(scenario, replicas):
    numbers = scenario(replicas, "ema")
    assert max(numbers.values()) < 1e-12, numbers


def test_moved_by_hand():
    average, weight = np.float32(2.0), np.float32(6.0)
    assert float(moved(average, weight, 0.75, first=False)) == 3.0
    assert float(moved(average, weight, 0.75, first=True)) == 6.0


def test_a_model_without_averages():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="set the step's `ema`.*Received: 0 averages, 2 weights"):
        with averaged(model):
            pass


def test_weights_come_back_after_an_error():
    model = exact(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]), ema=0.5)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), epochs=2, verbose=0)
    before = model.get_weights()
    with pytest.raises(KeyError), averaged(model):
        assert not np.allclose(model.get_weights()[0], before[0])
        raise KeyError
    np.testing.assert_array_equal(model.get_weights()[0], before[0])
