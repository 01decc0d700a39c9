"""Attention in which nobody looks at dropped tokens, with a gradient to the decision to drop."""

import keras
from keras import ops

from keras_vit.layers.attention import Attention, merge_heads
from keras_vit.layers.flat import flat, unflat


def kept_softmax(scores, kept, epsilon=1e-6):
    """Returns the softmax over the tokens that are kept, and over each token itself.

    With `G_ij = 1` for `i = j`, else `kept_j`, and `e_ij = exp(s_ij - max_j s_ij) G_ij`, it is
    `(e_ij + epsilon / n) / (sum_j e_ij + epsilon)`. The maximum is over all tokens, dropped ones
    included. It is computed at least in float32.

    Args:
        scores: `[b, k, n, n]`.
        kept: `[b, n]`, 1 or 0.
        epsilon: keeps the quotient from 0 / 0.

    Reference:
        Rao et al., *DynamicViT*, 2021, arXiv 2106.02034, with the epsilon of their code.
    """
    exact = keras.backend.result_type(scores.dtype, "float32")
    exactly, count = ops.cast(scores, exact), scores.shape[-1]
    others = ops.cast(kept, exact)[:, None, None, :]
    seen = others + (1 - others) * ops.eye(count, dtype=exact)
    top = ops.stop_gradient(ops.max(exactly, axis=-1, keepdims=True))
    weights = ops.exp(exactly - top) * seen
    total = ops.sum(weights, axis=-1, keepdims=True)
    return ops.cast((weights + epsilon / count) / (total + epsilon), scores.dtype)


@keras.saving.register_keras_serializable(package="keras_vit")
class KeptAttention(Attention):
    """`Attention` that sees the kept tokens only.

    Args are those of `Attention`.

    Call arguments:
        tokens: `[b, n, width]`.
        kept: `[b, n]`, 1 for a token that is seen, 0 for one that sees the others and itself, but
            is not seen.
        training: whether dropout is on.

    Returns:
        `[b, n, width]`.
    """

    def build(self, tokens_shape, kept_shape=None):
        super().build(tokens_shape)

    def call(self, tokens, kept, training=False):
        query, key, value = self.qkv(tokens)
        scores = ops.matmul(query * query.shape[-1] ** -0.5, ops.transpose(key, (0, 1, 3, 2)))
        weights = self.drop(kept_softmax(scores, kept), training=training)
        merged = merge_heads(ops.matmul(weights, value))
        return unflat(self.out(flat(merged)), merged)

    def compute_output_shape(self, tokens_shape, kept_shape):
        return tokens_shape
