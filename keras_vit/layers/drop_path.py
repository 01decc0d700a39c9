"""Stochastic depth: a residual branch is dropped for some of the examples."""

import keras

from keras_vit.layers.base import Layer


@keras.saving.register_keras_serializable(package="keras_vit")
class DropPath(Layer):
    """Sets the whole branch to zero for a random share of the examples, in training only.

    What is kept is divided by `1 - rate`, so that the expected value stays.

    Args:
        rate: probability of dropping an example's branch, in [0, 1).
        seed: integer seed, or None for a random one.

    Call arguments:
        inputs: float tensor `[b, ...]`.
        training: whether to drop.

    Returns:
        A tensor of the shape of the inputs.

    Reference:
        Huang et al., *Deep Networks with Stochastic Depth*, 2016, arXiv 1603.09382.
    """

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"`rate` must be in [0, 1). Received: {rate}.")
        self.rate = rate
        self.seed = seed
        if rate:
            self.seed_generator = keras.random.SeedGenerator(seed)

    def call(self, inputs, training=False):
        if not training or not self.rate:
            return inputs
        shape = (keras.ops.shape(inputs)[0],) + (1,) * (len(inputs.shape) - 1)
        return keras.random.dropout(inputs, self.rate, noise_shape=shape, seed=self.seed_generator)

    def compute_output_shape(self, input_shape):
        return input_shape


def drop_path_rates(rate, depth):
    """Returns the rate of each block: 0 for the first, rising linearly to `rate` for the last.

    Example:

    >>> drop_path_rates(0.3, 4)
    [0.0, 0.1, 0.2, 0.3]
    """
    return [round(rate * block / max(depth - 1, 1), 12) for block in range(depth)]
