"""Merging the patch tokens that are most alike, without training: ToMe.

Bolya et al., *Token Merging: Your ViT But Faster*, 2022, arXiv 2210.09461.
"""

import keras
import numpy as np
from keras import ops

from keras_vit.layers.gathering import gather_tokens


def sides(count, prefix):
    """Returns (first source, first target, number of sources) of alternating patch tokens.

    They begin as in the original code, which counts the tokens in front, too: with one of them the
    first patch token is a target.

    Args:
        count: number of patch tokens.
        prefix: number of tokens in front.
    """
    first = prefix % 2
    return first, 1 - first, (count + 1 - first) // 2


def sizes_of(groups, count, dtype):
    """Returns how many patches each token stands for, `[b, count]`.

    Args:
        groups: int32 `[b, p]`, which token stands for each patch.
        count: number of patch tokens.
        dtype: of the sizes.
    """
    return ops.maximum(ops.sum(ops.one_hot(groups, count, dtype=dtype), axis=1), 1)


def soft_matching(keys, merged, prefix=0):
    """Chooses which patch tokens are merged into which.

    Each source is matched with the target whose key is most alike, by the cosine; the sources with
    the highest cosines are merged.

    Args:
        keys: `[b, n, d]` of the patch tokens.
        merged: number of sources that are merged.
        prefix: number of tokens in front of the patch tokens, see `sides`.

    Returns:
        Three times int32, counted among the sources and the targets: which of the sources are
        merged, `[b, merged]`; which stay, in their order, `[b, sources - merged]`; and the target
        of each merged one, `[b, merged]`.
    """
    keys = ops.cast(keys, keras.backend.result_type(keys.dtype, "float32"))
    keys = keys / ops.sqrt(ops.sum(keys * keys, axis=-1, keepdims=True))
    source, target, count = sides(keys.shape[1], prefix)
    cosines = ops.matmul(keys[:, source::2], ops.transpose(keys[:, target::2], (0, 2, 1)))
    # Keras's argmax has bitwise operators, which TFLite lacks; both sorts are top_k's.
    highest, nearest = ops.top_k(cosines, 1)
    order = ops.cast(ops.top_k(highest[..., 0], count)[1], "int32")
    chosen, rest = order[:, :merged], ops.cast(order[:, merged:], "float32")
    # Floats count exactly to 2 ** 24.
    staying = ops.cast(-ops.top_k(-rest, count - merged)[0], "int32")
    return chosen, staying, gather_tokens(ops.cast(nearest[..., 0], "int32"), chosen)


def merge(tokens, sizes, matching, prefix=0):
    """Merges patch tokens: the mean of those that meet, weighted by their sizes.

    Args:
        tokens: `[b, n, width]`, patch tokens.
        sizes: float `[b, n]`, how many patches each token stands for.
        matching: of `soft_matching`.
        prefix: as there.

    Returns:
        `[b, n - merged, width]`: the sources that stay, then the targets.
    """
    chosen, staying, goals = matching
    source, target, count = sides(tokens.shape[1], prefix)
    meeting = ops.one_hot(goals, tokens.shape[1] - count, dtype=sizes.dtype)

    def summed(values):
        """The sums of `[b, n, c]` where tokens meet."""
        sources = values[:, source::2]
        # A product with ones and zeros: adding at places is slow on TPUs, and TFLite has no such.
        arriving = ops.matmul(ops.transpose(meeting, (0, 2, 1)), gather_tokens(sources, chosen))
        targets = values[:, target::2] + arriving
        return ops.concatenate([gather_tokens(sources, staying), targets], axis=1)

    weights = sizes[..., None]
    mean = summed(ops.cast(tokens, sizes.dtype) * weights) / summed(weights)
    return ops.cast(mean, tokens.dtype)


def regroup(groups, count, matching, prefix=0):
    """Returns which token stands for each patch after a merging.

    Args:
        groups: int32 `[b, p]`, which token stood for each patch before.
        count: number of patch tokens before.
        matching: of `soft_matching`.
        prefix: as there.
    """
    chosen, staying, goals = matching
    source, _, sources = sides(count, prefix)
    left = staying.shape[1]
    # The places of sources are summed up from the two kinds, as floats, which count exactly.
    ones = lambda places: ops.one_hot(places, sources, dtype="float32")  # noqa: E731
    of_sources = ops.sum(ones(chosen) * ops.cast(goals + left, "float32")[..., None], axis=1)
    ranks = ops.arange(left, dtype="float32")[None, :, None]
    of_sources = of_sources + ops.sum(ones(staying) * ranks, axis=1)
    targets = ops.arange(left, left + count - sources, dtype="float32")
    targets = ops.zeros_like(of_sources[:, :1]) + targets
    places = ops.cast(ops.concatenate([of_sources, targets], axis=1), "int32")
    # Back in the order of the tokens: a constant, and no integer division, which TFLite lacks.
    order = np.argsort([*range(source, count, 2), *range(1 - source, count, 2)])
    return gather_tokens(ops.take(places, order.astype("int32"), axis=1), groups)
