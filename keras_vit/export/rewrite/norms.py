"""Norms without gamma and beta, which the layers behind them have taken over."""

import math

from keras import ops

from keras_vit.layers import Layer


def mean_of_squares(x):
    """The mean of the squares of the last axis."""
    return ops.mean(x * x, axis=-1, keepdims=True)


def mean_of_rows(x):
    """The mean of the last axis, taken in three dimensions at most.

    Arm's compiler for Ethos-U leaves a mean over the channels of a map `[b, h, w, d]` to the CPU.
    """
    if len(x.shape) < 4:
        return ops.mean(x, axis=-1, keepdims=True)
    rows = ops.reshape(x, (-1, math.prod(x.shape[1:-1]), x.shape[-1]))
    return ops.reshape(ops.mean(rows, axis=-1, keepdims=True), (-1, *x.shape[1:-1], 1))


def self_product(x, weights=None):
    """The same as a product of each token with itself, `[1, d] x [d, 1]`.

    A product sums in 32 bits and rounds the sum alone. Squares that are stored one by one need a
    scale for the largest: with tokens whose channels reach 34, 8 bits leave nothing of an ordinary
    token's.

    Args:
        x: `[..., d]`.
        weights: what each channel's square counts, `[d]`; by default 1 / d.
    """
    width = x.shape[-1]
    other = x if weights is None else x * ops.convert_to_tensor(weights)
    product = ops.matmul(ops.reshape(x, (-1, 1, width)), ops.reshape(other, (-1, width, 1)))
    total = ops.reshape(product, (-1, *x.shape[1:-1], 1))
    return total * (1 / width) if weights is None else total


class Rms(Layer):
    """`x * rsqrt(mean(x * x) + epsilon)`: the norm of tokens whose mean is zero already.

    Args:
        epsilon: added to the mean.

    Attributes:
        mean_square: function from tokens `[..., d]` to `[..., 1]`.
    """

    mean_square = staticmethod(mean_of_squares)

    def __init__(self, epsilon, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def call(self, inputs, training=False):
        return inputs * ops.rsqrt(self.mean_square(inputs) + self.epsilon)

    def compute_output_shape(self, input_shape):
        return input_shape


class PlainNorm(Rms):
    """The same after the mean of each token is taken off."""

    def call(self, inputs, training=False):
        return super().call(inputs - mean_of_rows(inputs))


class ScaledRms(Rms):
    """The norm of tokens whose channels are stored in units of their own, in the same units.

    Only the sum of squares needs the tokens as they were. A product of the tokens with their
    squared units would do as well, but in 8 bits the largest squares leave the others nothing.

    Args:
        norm: the `Rms` whose place it takes.
        unit: what a stored 1 stands for, `[d]`.
    """

    def __init__(self, norm, unit):
        super().__init__(norm.epsilon, name=norm.name, dtype="float32")
        self.unit = unit.astype("float32")
        self.mean_square = norm.mean_square

    def call(self, inputs, training=False):
        return inputs * ops.rsqrt(self.mean_square(inputs * self.unit) + self.epsilon)
