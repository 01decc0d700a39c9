"""The base of the package's layers."""

import keras


class Layer(keras.layers.Layer):
    """A Keras layer whose config is its own signature.

    Keras writes `get_config` from the arguments of `__init__`, but gives up when one of them is a
    `DTypePolicy` object. `Layer.get_config` adds the dtype in any case, so it is left out here.
    """

    def __new__(cls, *args, dtype=None, **kwargs):
        return super().__new__(cls, *args, **kwargs)
