"""Attention rollout: how much each patch flows into what the head reads."""

import numpy as np

from keras_vit.explain.blocks import as_float64, blocks, seen_by_head


def attention_rollout(attentions):
    """Follows attention through all blocks, from the output tokens back to the input tokens.

    Each block passes on its input (the residual path) and what it attends to, in equal parts:
    the product of `0.5 * attention + 0.5 * identity` over the blocks, each with its rows
    normalised.

    Args:
        attentions: the blocks' attention from first to last, each `[b, n, n]`: the mean over
            the heads, rows sum to one.

    Returns:
        A numpy array `[b, n, n]`, float64: row `i` is the share of each input token in output
        token `i`; rows sum to one.

    Raises:
        ValueError: without a block.

    Reference:
        Abnar and Zuidema, *Quantifying Attention Flow in Transformers*, 2020, arXiv 2005.00928.

    Example:

    >>> import numpy as np
    >>> attention_rollout([np.array([[[0.0, 1.0], [0.0, 1.0]]])]).tolist()
    [[[0.5, 0.5], [0.0, 1.0]]]
    """
    if not len(attentions):
        raise ValueError("`attentions` must hold the attention of one block or more. Received: [].")
    flow = None
    for attention in attentions:
        attention = np.asarray(attention, "float64")
        step = 0.5 * attention + 0.5 * np.eye(attention.shape[-1])
        step /= step.sum(axis=-1, keepdims=True)
        flow = step if flow is None else step @ flow
    return flow


def rollout(model, images):
    """Returns what a ViT looks at in each image.

    The row of the class token where the head reads it (in a distilled DeiT, the mean with that of
    the distillation token), otherwise the mean over the rows of the patch tokens; the columns of
    class token and registers are left out.

    Args:
        model: a `ViT`, `DeiT`, `DINOv2` or `Hybrid`.
        images: normalised float images `[b, h, w, c]`, as for the model.

    Returns:
        A numpy array `[b, rows, columns]` over the grid of patches, float64; each map sums to
        one.

    Raises:
        ValueError: for a model whose attention is of another kind.

    Example:

    >>> import numpy as np
    >>> from keras_vit.factory import create_model
    >>> model = create_model("vit_ti16", image_size=(32, 48), depth=2)
    >>> rollout(model, np.zeros((1, 32, 48, 3), "float32")).shape
    (1, 2, 3)
    """
    attentions = [
        as_float64(block.layer.attention_probabilities(block.tokens)).mean(axis=1)
        for block in blocks(model, images).values()
    ]
    patches = seen_by_head(model, attention_rollout(attentions))
    return patches / patches.sum(axis=(-2, -1), keepdims=True)
