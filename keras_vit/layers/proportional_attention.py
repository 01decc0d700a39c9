"""Attention among tokens that stand for several patches each."""

import keras
from keras import ops

from keras_vit.layers.attention import Attention, attention_probabilities, merge_heads
from keras_vit.layers.flat import flat, unflat


@keras.saving.register_keras_serializable(package="keras_vit")
class ProportionalAttention(Attention):
    """`Attention` in which a token counts as often as the patches that it stands for.

    `softmax(q k^T / sqrt(d) + log s)` with the sizes `s` of the keys' tokens.

    Args are those of `Attention`.

    Call arguments:
        tokens: `[b, n, width]`.
        sizes: float `[b, n]`, at least 1.
        training: whether dropout is on.

    Returns:
        (`[b, n, width]`, the mean of the keys over the heads `[b, n, head_dim]`).
    """

    def build(self, tokens_shape, sizes_shape=None):
        super().build(tokens_shape)

    def call(self, tokens, sizes, training=False):
        query, key, value = self.qkv(tokens)
        bias = ops.cast(ops.log(sizes), query.dtype)[:, None, None, :]
        weights = attention_probabilities(query, key, training, bias)
        merged = merge_heads(ops.matmul(self.drop(weights, training=training), value))
        return unflat(self.out(flat(merged)), merged), ops.mean(key, axis=1)

    def compute_output_shape(self, tokens_shape, sizes_shape=None):
        batch, count, width = tokens_shape
        return tokens_shape, (batch, count, width // self.num_heads)
