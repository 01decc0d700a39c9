"""Attention rollout: how much each patch flows into what the head reads."""

import keras
import numpy as np


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

    The row of the class token where the head reads it, otherwise the mean over the rows of the
    patch tokens; the columns of class token and registers are left out.

    Args:
        model: a `ViT`, or another model of this package with a `config` and with blocks named
            `block_0`, `block_1`, ….
        images: normalised float images `[b, h, w, c]`, as for the model.

    Returns:
        A numpy array `[b, rows, columns]` over the grid of patches, float64; each map sums to
        one.

    Raises:
        ValueError: if the model has no such blocks.

    Example:

    >>> import numpy as np
    >>> from keras_vit.factory import create_model
    >>> model = create_model("vit_ti16", image_size=(32, 48), depth=2)
    >>> rollout(model, np.zeros((1, 32, 48, 3), "float32")).shape
    (1, 2, 3)
    """
    blocks = _blocks(model)
    taps = keras.Model(model.input, [block.input for block in blocks])
    # A list of one output stays a list only by asking: Keras unwraps it.
    inputs = keras.tree.flatten(taps(images, training=False))
    attentions = [
        _numpy(block.attention_probabilities(tokens)).mean(axis=1)
        for block, tokens in zip(blocks, inputs, strict=True)
    ]
    config = model.config
    flow = attention_rollout(attentions)
    row = flow[:, 0] if config.pooling == "token" else flow[:, config.num_prefix :].mean(axis=1)
    patches = row[:, config.num_prefix :]
    patches = patches / patches.sum(axis=-1, keepdims=True)
    rows, columns = model.get_layer("patches").grid(config.image_size)
    return patches.reshape(-1, rows, columns)


def _blocks(model):
    """The model's blocks from first to last."""
    layers = {layer.name: layer for layer in model.layers}
    count = sum(hasattr(layer, "attention_probabilities") for layer in model.layers)
    names = [f"block_{index}" for index in range(count)]
    if not names or not hasattr(model, "config") or any(name not in layers for name in names):
        raise ValueError(
            "Attention rollout needs a ViT of this package, with blocks named block_0, block_1, …. "
            f"Received: {type(model).__name__} {model.name!r}."
        )
    return [layers[name] for name in names]


def _numpy(attention):
    # Half precision has too few digits for a mean over heads, and numpy has no bfloat16.
    return keras.ops.convert_to_numpy(keras.ops.cast(attention, "float32")).astype("float64")
