"""The learned numbers by which similarities become logits."""

import math

import keras
from keras import ops

from keras_vit.layers.base import Layer


@keras.saving.register_keras_serializable(package="keras_vit")
class AtMost(keras.constraints.Constraint):
    """Keeps a weight at or below a bound, after each step of the optimizer.

    Args:
        bound: the largest value.
    """

    def __init__(self, bound):
        self.bound = bound

    def __call__(self, value):
        return ops.minimum(value, self.bound)

    def get_config(self):
        return {"bound": self.bound}


class _LearnedNumber(Layer):
    """One learned number, given once for each example, so that any replica holds its share."""

    def __init__(self, start, **kwargs):
        super().__init__(**kwargs)
        self.start = start

    def build(self, input_shape):
        # The replicas' values are the same after each step: their mean is that of each.
        self.number = self.add_weight(
            name=self.weight_name,
            shape=(),
            initializer=keras.initializers.Constant(self.start),
            constraint=self._constraint(),
            aggregation="mean",
            autocast=False,
        )

    def call(self, embeddings):
        ones = ops.ones_like(embeddings[:, :1])
        return ones * ops.cast(self._value(), ones.dtype)

    def compute_output_shape(self, input_shape):
        return input_shape[0], 1

    def _constraint(self):
        return None

    def _value(self):
        return self.number


@keras.saving.register_keras_serializable(package="keras_vit")
class LogitScale(_LearnedNumber):
    """The inverse of a temperature, learned by its logarithm.

    The weight is clamped after each step of the optimizer, not in the graph: there it would lose
    its gradient at the bound. It takes no part in weight decay.

    Args:
        start: start value of the logarithm, such as `ln(1 / 0.07)`.
        largest: bound of the scale itself, or None.

    Call arguments:
        embeddings: `[b, width]`, of which only the number matters.

    Returns:
        `[b, 1]`, the same number for each example.

    Raises:
        ValueError: if the scale starts above its bound.

    Reference:
        Radford et al., *Learning Transferable Visual Models From Natural Language Supervision*,
        2021, arXiv 2103.00020.

    Example:

    >>> LogitScale(0.0)(keras.ops.ones((2, 3))).numpy().tolist()
    [[1.0], [1.0]]
    """

    weight_name = "logit_scale"

    def __init__(self, start, largest=None, **kwargs):
        super().__init__(start, **kwargs)
        if largest is not None and not start <= math.log(largest):
            raise ValueError(
                "`largest` must be at least the scale that `start` is the logarithm of. "
                f"Received: start={start}, largest={largest}."
            )
        self.largest = largest

    def _constraint(self):
        return None if self.largest is None else AtMost(math.log(self.largest))

    def _value(self):
        return ops.exp(self.number)


@keras.saving.register_keras_serializable(package="keras_vit")
class LogitBias(_LearnedNumber):
    """A learned number that is added to all logits.

    Args:
        start: start value, such as -10.

    Call arguments:
        embeddings: `[b, width]`, of which only the number matters.

    Returns:
        `[b, 1]`, the same number for each example.

    Reference:
        Zhai et al., *Sigmoid Loss for Language Image Pre-Training*, 2023, arXiv 2303.15343.

    Example:

    >>> LogitBias(-10.0)(keras.ops.ones((2, 3))).numpy().tolist()
    [[-10.0], [-10.0]]
    """

    weight_name = "logit_bias"
