"""Attention whose queries come scaled already, with a softmax that can be chosen."""

from keras import ops

from keras_vit.export.rewrite.matrices import matrix, set_matrix
from keras_vit.export.rewrite.parts import Wrapped, exchange
from keras_vit.layers.attention import Attention, merge_heads
from keras_vit.layers.flat import flat, unflat
from keras_vit.layers.relative_attention import RelativeAttention
from keras_vit.layers.transformer_block import TransformerBlock
from keras_vit.layers.window_attention import WindowAttention


class LeanAttention(Wrapped):
    """Self-attention without the factor 1 / sqrt(d), which the queries' kernel has taken over.

    Attributes:
        attend: function from scores `[b, k, n, m]` and values `[b, k, m, d]` to `[b, k, n, d]`.
    """

    @staticmethod
    def attend(scores, value):
        return ops.matmul(ops.softmax(scores, axis=-1), value)

    def call(self, tokens, training=False):
        query, key, value = self.inner.qkv(tokens)
        context = self.attend(ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))), value)
        merged = merge_heads(context)
        return unflat(self.inner.out(flat(merged)), merged)


class LeanRelativeAttention(LeanAttention):
    """The same with a bias by offset, over a grid or inside windows."""

    def call(self, tokens, training=False):
        inner, bias = self.inner, self.inner.bias()
        query, key, value = inner._heads(tokens, bias)
        context = self.attend(ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) + bias, value)
        # The heads of several windows, side by side, become windows again.
        merged = merge_heads(ops.reshape(context, (-1, inner.num_heads, *context.shape[2:])))
        return inner._placed(inner.out(flat(merged)), tokens.shape)


LEAN = {
    Attention: LeanAttention,
    RelativeAttention: LeanRelativeAttention,
    WindowAttention: LeanRelativeAttention,
}


def fold_query_scale(model, streams=()):
    """Multiplies the queries' columns and bias by 1 / sqrt(d); in place.

    Returns:
        (model, number of weights changed).
    """
    changed = 0
    for block in [layer for layer in model.layers if isinstance(layer, TransformerBlock)]:
        kind, qkv = LEAN.get(type(block.attention)), getattr(block.attention, "qkv", None)
        if kind is None:
            continue
        kernel, bias = matrix(qkv)
        factor = kernel.shape[1] // 3 * [qkv.kernel.shape[-1] ** -0.5]
        factor += [1] * (kernel.shape[1] - len(factor))
        set_matrix(qkv, kernel * factor, bias * factor)
        exchange(block, "attention", kind(block.attention))
        changed += 2
    return model, changed
