import keras
import numpy as np

from keras_vit.layers import Layer, Mlp


class Power(Layer):
    """A layer as a user writes one: its config is its signature."""

    def __init__(self, exponent, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.exponent = exponent
        self.offset = offset

    def call(self, inputs):
        return inputs**self.exponent + self.offset


def test_the_config_is_the_signature():
    config = Power(2, name="power").get_config()
    assert {name: config[name] for name in ("exponent", "offset", "name")} == {
        "exponent": 2,
        "offset": 0.0,
        "name": "power",
    }
    layer = Power.from_config(config)
    np.testing.assert_array_equal(layer(np.array([3.0])), [9.0])


def test_a_policy_object_does_not_cost_the_config():
    layer = Power(3, dtype=keras.DTypePolicy("mixed_bfloat16"), trainable=False)
    again = Power.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    assert again.dtype_policy.name == "mixed_bfloat16"
    assert not again.trainable


def test_an_own_attribute_does_not_change_the_config():
    layer = Mlp(5, "relu")
    layer.build((None, 3))
    assert layer.get_config()["activation"] == "relu"
