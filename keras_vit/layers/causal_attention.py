"""Attention that sees no token after its own, for text."""

import keras
import numpy as np
from keras import ops

from keras_vit.layers.attention import Attention

# Finite, so that a graph can be quantised; its exponential is zero in float64 even.
HIDDEN = -1e4


def causal_bias(count):
    """Returns what is added to the scores: 0 up to a token's own place, `HIDDEN` after it.

    Args:
        count: number of tokens.

    Returns:
        float32 array `[1, count, count]`.

    Example:

    >>> causal_bias(2).tolist()
    [[[0.0, -10000.0], [0.0, 0.0]]]
    """
    return np.triu(np.full((1, count, count), HIDDEN, "float32"), k=1)


@keras.saving.register_keras_serializable(package="keras_vit")
class CausalAttention(Attention):
    """Multi-head self-attention of each token over itself and those before it.

    Padding after the text needs no mask: nothing before it sees it.

    Args and call arguments are those of `Attention`; the number of tokens must be known when the
    graph is made.

    Reference:
        Vaswani et al., *Attention Is All You Need*, 2017, arXiv 1706.03762.

    Example:

    >>> CausalAttention(num_heads=2)(keras.ops.ones((1, 5, 8))).shape
    TensorShape([1, 5, 8])
    """

    def _bias(self, query):
        return ops.cast(causal_bias(query.shape[2]), query.dtype)
