"""Multi-head attention: the projections and the product."""

import math

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.flat import flat, unflat
from keras_vit.one_pass import gradient_from_value


def softmax(scores):
    """Softmax over the last axis, computed in float32 where the scores are half precision.

    Its sums are not exact enough in bfloat16.
    """
    exact = ops.cast(scores, keras.backend.result_type(scores.dtype, "float32"))
    return ops.cast(ops.softmax(exact, axis=-1), scores.dtype)


def softmax_gradient(probabilities, upstream):
    """The gradient of a softmax with respect to its input, from its value."""
    weighted = upstream * probabilities
    return weighted - probabilities * ops.sum(weighted, axis=-1, keepdims=True)


def attention_probabilities(query, key, training=False, bias=None):
    """Returns the softmax of the scaled products of queries and keys.

    Args:
        query: `[b, k, n, d]`, `k` heads of size `d`.
        key: `[b, k, m, d]`.
        training: whether a gradient is going to be asked for.
        bias: added to the scores, `[k, n, m]`, or None.

    Returns:
        `[b, k, n, m]`; each row sums to one.
    """
    # The scale goes to the queries, as in the JAX and PyTorch code.
    scores = ops.matmul(query * query.shape[-1] ** -0.5, ops.transpose(key, (0, 1, 3, 2)))
    scores = scores if bias is None else scores + bias
    return (gradient_from_value(softmax, softmax_gradient) if training else softmax)(scores)


class PerProjection(keras.initializers.Initializer):
    """Draws each projection of `(c, [parts,] heads, head_dim)` as a matrix of its own.

    Drawn as one tensor, the fan would be that of the fused matrix and the limit too small.
    """

    def __init__(self, base="glorot_uniform"):
        self.base = keras.initializers.get(base)

    def __call__(self, shape, dtype=None):
        channels, *parts, heads, head_dim = shape
        matrix = (channels, heads * head_dim)
        # A seeded initializer repeats itself: each projection gets a clone with its own seed.
        draws = [self.base.clone()(matrix, dtype) for _ in range(math.prod(parts))]
        return ops.reshape(ops.stack(draws, axis=1), shape)

    def get_config(self):
        return {"base": keras.initializers.serialize(self.base)}


@keras.saving.register_keras_serializable(package="keras_vit")
class HeadProjection(Layer):
    """One product for several projections, split into heads.

    Args:
        num_heads: number of heads; divides the width.
        parts: number of projections: 3 for query, key and value. The kernel is
            `(c, parts, num_heads, head_dim)`, without `parts` where it is 1.
        width: width of each projection; by default that of the tokens.

    Call arguments:
        tokens: `[b, n, c]`.

    Returns:
        A list of `parts` tensors `[b, num_heads, n, head_dim]`.
    """

    def __init__(self, num_heads, parts=3, width=None, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.parts = parts
        self.width = width

    def build(self, input_shape):
        channels = input_shape[-1]
        shape = (self.num_heads, head_dim(self.width or channels, self.num_heads))
        if self.parts > 1:
            shape = (self.parts, *shape)
        self.kernel = self.add_weight(
            name="kernel", shape=(channels, *shape), initializer=PerProjection()
        )
        self.bias = self.add_weight(name="bias", shape=shape, initializer="zeros")

    def call(self, tokens):
        if keras.backend.backend() == "jax":
            return self._by_axes(tokens)
        size = self.kernel.shape[-1]
        columns = self.parts * self.num_heads * size
        kernel = ops.reshape(self.kernel, (tokens.shape[-1], columns))
        projected = ops.add(ops.matmul(flat(tokens), kernel), ops.reshape(self.bias, (-1,)))
        # Token counts are static in our models: a constant shape keeps exported graphs small.
        heads = (-1, ops.shape(tokens)[1], self.parts * self.num_heads, size)
        # All parts are moved at once: for one image three moves take twice as long as one.
        moved = ops.transpose(ops.reshape(projected, heads), (0, 2, 1, 3))
        return ops.split(moved, self.parts, axis=1)

    def _by_axes(self, tokens):
        """The same without joining axes.

        Under tensor parallelism the heads of the kernel are sharded, and a matrix with the columns
        (part, head, size) could not be: XLA would gather every kernel in every step.
        """
        projected = ops.tensordot(tokens, self.kernel, axes=1) + self.bias
        parts = ops.unstack(projected, axis=2) if self.parts > 1 else [projected]
        return [ops.transpose(part, (0, 2, 1, 3)) for part in parts]

    def compute_output_shape(self, input_shape):
        batch, count, channels = input_shape
        size = (self.width or channels) // self.num_heads
        return [(batch, self.num_heads, count, size)] * self.parts


def head_dim(width, num_heads):
    """Returns the size of one head.

    Raises:
        ValueError: if the heads do not divide the width.
    """
    if num_heads < 1 or width % num_heads:
        raise ValueError(
            f"`num_heads` must divide `width`. Received: width={width}, num_heads={num_heads}."
        )
    return width // num_heads


def merge_heads(x):
    """Joins heads: `[b, k, n, d]` to `[b, n, k * d]`, head by head."""
    _, heads, _, size = x.shape
    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (-1, ops.shape(x)[2], heads * size))


@keras.saving.register_keras_serializable(package="keras_vit")
class Attention(Layer):
    """Multi-head self-attention with softmax.

    Args:
        num_heads: number of heads; divides the width.
        dropout: rate on the attention probabilities, in [0, 1).

    Call arguments:
        tokens: `[b, n, width]`.
        training: whether dropout is on.

    Returns:
        `[b, n, width]`.

    Raises:
        ValueError: if `num_heads` does not divide the width.

    Reference:
        Vaswani et al., *Attention Is All You Need*, 2017, arXiv 1706.03762.

    Example:

    >>> Attention(num_heads=2)(keras.ops.ones((1, 5, 8))).shape
    TensorShape([1, 5, 8])
    """

    def __init__(self, num_heads, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.dropout = dropout

    def build(self, input_shape):
        width = input_shape[-1]
        self.qkv = HeadProjection(self.num_heads, parts=3, name="qkv", dtype=self.dtype_policy)
        self.out = keras.layers.Dense(width, name="out", dtype=self.dtype_policy)
        self.drop = keras.layers.Dropout(self.dropout, name="drop", dtype=self.dtype_policy)
        self.qkv.build(input_shape)
        self.out.build(input_shape)

    def probabilities(self, tokens):
        """Returns the attention of each token, `[b, num_heads, n, n]`: rows sum to one."""
        query, key, _ = self.qkv(tokens)
        return attention_probabilities(query, key, bias=self._bias(query))

    def call(self, tokens, training=False):
        merged = merge_heads(self._attended(*self.qkv(tokens), training))
        return unflat(self.out(flat(merged)), merged)

    def _attended(self, query, key, value, training):
        """What each head makes of the values, `[b, k, n, d]`."""
        weights = attention_probabilities(query, key, training, self._bias(query))
        return ops.matmul(self.drop(weights, training=training), value)

    def _bias(self, query):
        """What is added to the scores, or None."""
        return None

    def compute_output_shape(self, input_shape):
        return input_shape
