import math

import keras
import numpy as np
import pytest

from keras_vit.layers import LogitBias, LogitScale
from keras_vit.layers.logit_scale import AtMost

VECTORS = np.ones((3, 5), "float32")


def test_the_scale_is_an_exponential():
    layer = LogitScale(math.log(1 / 0.07), 100.0)
    np.testing.assert_allclose(layer(VECTORS), np.full((3, 1), 1 / 0.07), rtol=1e-6)
    assert [weight.path.split("/")[-1] for weight in layer.weights] == ["logit_scale"]


def test_the_bias_is_the_number_itself():
    layer = LogitBias(-10.0)
    np.testing.assert_array_equal(layer(VECTORS), np.full((3, 1), -10.0))
    assert [weight.path.split("/")[-1] for weight in layer.weights] == ["logit_bias"]


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
def test_every_step_keeps_the_bound_and_the_weight_can_come_back(optimizer):
    layer = LogitScale(math.log(90), 100.0)
    layer.build((None, 5))
    optimizer = keras.optimizers.get({"class_name": optimizer, "config": {"learning_rate": 1.0}})
    up, down = np.float32(-1.0), np.float32(1.0)
    optimizer.apply([keras.ops.convert_to_tensor(up)], layer.trainable_variables)
    assert float(layer.number) == pytest.approx(math.log(100), abs=1e-6)
    for _ in range(5):
        optimizer.apply([keras.ops.convert_to_tensor(down)], layer.trainable_variables)
    assert float(layer.number) < math.log(100) - 0.5


def test_without_a_bound():
    layer = LogitScale(5.0)
    layer.build((None, 5))
    assert layer.number.constraint is None


def test_a_start_at_the_bound_and_one_above():
    assert LogitScale(math.log(100), 100.0).largest == 100.0
    with pytest.raises(ValueError, match="`largest` must be at least the scale"):
        LogitScale(math.log(101), 100.0)


def test_the_constraint_is_saved():
    constraint = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(AtMost(3.0))
    )
    np.testing.assert_array_equal(constraint(np.array([2.0, 4.0])), [2.0, 3.0])
