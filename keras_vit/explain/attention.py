"""What each head of one block attends to."""

from keras_vit.explain.blocks import as_float64, block_names, blocks, seen_by_head


def attention(model, images, block=None):
    """Returns the attention of one block, per head.

    Args:
        model: a `ViT`, `DeiT`, `DINOv2` or `Hybrid`.
        images: normalised float images `[b, h, w, c]`, as for the model.
        block: the block's name, such as `"block_3"`; the last by default.

    Returns:
        A numpy array `[b, num_heads, n, n]`, float64, over class token, registers and patches;
        rows sum to one.

    Raises:
        ValueError: for a model without such blocks, or an unknown block.

    Example:

    >>> import numpy as np
    >>> from keras_vit.factory import create_model
    >>> model = create_model("vit_ti16", image_size=32, depth=2)
    >>> attention(model, np.zeros((1, 32, 32, 3), "float32"), block="block_0").shape
    (1, 3, 5, 5)
    """
    chosen = blocks(model, images)[_block_named(model, block)]
    return as_float64(chosen.layer.attention_probabilities(chosen.tokens))


def attention_maps(model, images, block=None):
    """Returns which patches the tokens that the head reads attend to in one block, per head.

    Args, raises: those of `attention`.

    Returns:
        A numpy array `[b, num_heads, rows, columns]` over the grid of patches, float64. A map sums
        to what class token and registers leave to the patches.
    """
    return seen_by_head(model, attention(model, images, block))


def _block_named(model, name):
    names = block_names(model)
    if name is None:
        return names[-1]
    if name not in names:
        raise ValueError(f"`block` must be one of {', '.join(names)}. Received: {name!r}.")
    return name
