"""Self-attention with a learned bias for each offset between two tokens."""

import keras
from keras import ops

from keras_vit.layers.attention import HeadProjection, attention_probabilities, merge_heads
from keras_vit.layers.base import Layer
from keras_vit.layers.flat import flat
from keras_vit.layers.sizes import pair
from keras_vit.layers.windows import offset_count, relative_index


@keras.saving.register_keras_serializable(package="keras_vit")
class RelativeAttention(Layer):
    """Multi-head self-attention over a grid of tokens, with a bias by their offset.

    To the score of a query and a key comes an entry of a table, one for each head: which one
    depends only on how far apart the two tokens lie, in rows and in columns.

    Args:
        num_heads: number of heads; divides the width.
        grid: (rows, columns) of the tokens.
        dropout: rate on the attention probabilities, in [0, 1).
        width: width of queries, keys, values and outputs; by default that of the inputs.
        prefix: number of tokens before those of the grid, such as a class token. The scores
            from them, to them and among them have a bias each.

    Call arguments:
        tokens: `[b, prefix + rows * columns, c]`, row by row, or without a prefix a map
            `[b, rows, columns, c]`.
        training: whether dropout is on.

    Returns:
        The same shape with `width` channels.

    Raises:
        ValueError: if `num_heads` does not divide the width, or for another number of tokens.

    Reference:
        Dai et al., *CoAtNet: Marrying Convolution and Attention for All Data Sizes*, 2021, arXiv
        2106.04803.

    Example:

    >>> RelativeAttention(num_heads=2, grid=(2, 3))(keras.ops.ones((1, 6, 8))).shape
    TensorShape([1, 6, 8])
    """

    def __init__(self, num_heads, grid, dropout=0.0, width=None, prefix=0, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.grid = pair("grid", grid)
        self.dropout = dropout
        self.width = width
        self.prefix = prefix

    def build(self, input_shape):
        self._check(input_shape)
        dtype, width = self.dtype_policy, self.width or input_shape[-1]
        self.qkv = HeadProjection(self.num_heads, 3, self.width, name="qkv", dtype=dtype)
        self.out = keras.layers.Dense(width, name="out", dtype=dtype)
        self.drop = keras.layers.Dropout(self.dropout, name="drop", dtype=dtype)
        self.qkv.build((None, self._count(), input_shape[-1]))
        self.out.build((None, width))
        self.relative_bias = self.add_weight(
            name="relative_bias",
            shape=(offset_count(self.grid) + 3 * bool(self.prefix), self.num_heads),
            initializer=keras.initializers.RandomNormal(stddev=0.02),
        )

    def bias(self):
        """Returns what is added to the scores, `[num_heads, n, n]`."""
        # The transpose comes first: it is small, and it makes the gradient of the table dense.
        index = relative_index(self.grid, self.prefix)
        return ops.take(ops.transpose(self.relative_bias), index, axis=1)

    def probabilities(self, tokens):
        """Returns the attention of each token, `[b, num_heads, n, n]`: rows sum to one."""
        bias = self.bias()
        query, key, _ = self._heads(tokens, bias)
        return attention_probabilities(query, key, bias=bias)

    def call(self, tokens, training=False):
        bias = self.bias()
        query, key, value = self._heads(tokens, bias)
        weights = self.drop(attention_probabilities(query, key, training, bias), training=training)
        merged = merge_heads(_regrouped(ops.matmul(weights, value), self.num_heads))
        return self._placed(self.out(flat(merged)), tokens.shape)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.width or input_shape[-1])

    def _heads(self, tokens, bias):
        """Query, key and value, with the heads that the bias is for."""
        self._check(tokens.shape)
        return [_regrouped(part, bias.shape[0]) for part in self.qkv(self._rows(tokens))]

    def _rows(self, tokens):
        """The tokens that see one another in rows, `[b, n, c]`."""
        return ops.reshape(tokens, (-1, self._count(), tokens.shape[-1]))

    def _count(self):
        return self.prefix + self.grid[0] * self.grid[1]

    def _placed(self, matrix, shape):
        """The reverse of `_rows`, from a matrix with a row for each token."""
        return ops.reshape(matrix, (-1, *shape[1:-1], matrix.shape[-1]))

    def _check(self, shape):
        rows, columns = self.grid
        if tuple(shape[1:-1]) not in ((self._count(),), *(() if self.prefix else (self.grid,))):
            or_map = "" if self.prefix else f" or [b, {rows}, {columns}, c]"
            raise ValueError(
                f"`tokens` must have the shape [b, {self._count()}, c]{or_map} for this grid. "
                f"Received: shape={tuple(shape)}."
            )


def _regrouped(x, heads):
    """`[b, k, n, d]` with another number of heads: those of several examples side by side."""
    return x if x.shape[1] == heads else ops.reshape(x, (-1, heads, *x.shape[2:]))
