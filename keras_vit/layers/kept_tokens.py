"""What is said of the tokens that are kept: their mean, and how far they are from others'.

Decisions `kept` are `[b, n, 1]`, 1 for a patch token that is kept and 0 for one that is not.
"""

from keras import ops


def mean_of_kept(features, kept):
    """Returns the mean over the tokens that are kept, `[b, 1, d]`; 0 where none is.

    Args:
        features: `[b, n, d]`.
        kept: `[b, n, 1]`.
    """
    kept = ops.cast(kept, features.dtype)
    count = ops.maximum(ops.sum(kept, axis=1, keepdims=True), 1)
    return ops.sum(features * kept, axis=1, keepdims=True) / count


def _token(tokens, kept):
    return tokens[:, 0]


def _mean(tokens, kept):
    return mean_of_kept(tokens[:, tokens.shape[1] - kept.shape[1] :], kept)[:, 0]


def _token_and_mean(tokens, kept):
    return ops.concatenate([_token(tokens, kept), _mean(tokens, kept)], axis=-1)


# The poolings of a ViT in which dropped tokens can be left out: from tokens `[b, m + n, width]`
# and decisions to `[b, width]`, or twice the width.
KEPT_POOLING = {"token": _token, "gap": _mean, "token_and_mean": _token_and_mean}


def kept_distances(tokens, others, kept):
    """Returns how far kept tokens are from another model's at the same places.

    Args:
        tokens: `[b, n, width]`.
        others: `[b, n, width]`.
        kept: `[b, n, 1]`, in the dtype to compute in. The distance has no gradient to it: which
            tokens are kept is not chosen for being near.

    Returns:
        (squares summed over kept tokens and channels, how many squares that is), `[b]` each.
    """
    chosen = ops.stop_gradient(kept)[..., 0]
    apart = ops.cast(tokens, kept.dtype) - ops.cast(others, kept.dtype)
    squares = ops.sum(ops.square(apart), axis=-1)
    return ops.sum(squares * chosen, axis=-1), tokens.shape[-1] * ops.sum(chosen, axis=-1)
