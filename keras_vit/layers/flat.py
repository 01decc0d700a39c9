"""Tokens as the rows of a matrix, the form in which products are fastest."""

from keras import ops


def flat(tokens):
    """Returns `[..., d]` as a matrix `[rows, d]`.

    TensorFlow's graph optimizer fuses a product with the bias and the GELU that follow it only on
    matrices, and only where the bias comes by `ops.add`, not by `+` (Keras makes a BiasAdd of the
    one and an Add of the other). On `[8, 197, 768]` times `[768, 3072]` in bfloat16, two cores:
    43 ms fused, 72 ms in three dimensions. XLA sees the same program either way.
    """
    return tokens if len(tokens.shape) == 2 else ops.reshape(tokens, (-1, tokens.shape[-1]))


def unflat(matrix, like):
    """Returns a matrix `[rows, d]` in the leading shape of `like`, `[..., c]`."""
    if len(like.shape) == 2:
        return matrix
    # The batch is what may be unknown; constants keep exported graphs small.
    return ops.reshape(matrix, (-1, *ops.shape(like)[1:-1], matrix.shape[-1]))
