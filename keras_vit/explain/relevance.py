"""Gradient-weighted relevance: which patches speak for a class."""

import keras
import numpy as np
from keras import ops

from keras_vit.explain.blocks import as_float64, blocks, seen_by_head
from keras_vit.layers.attention import merge_heads


def attention_relevance(attentions, gradients):
    """Follows through all blocks the attention that speaks for a class.

    From the identity on, each block adds `mean over heads of max(gradient * attention, 0)` times
    the relevance so far: what was relevant stays so, by the residual path.

    Args:
        attentions: the blocks' attention from first to last, each `[b, num_heads, n, n]`.
        gradients: the gradient of the class's logit with respect to each of them.

    Returns:
        A numpy array `[b, n, n]`, float64: row `i` is the relevance of each input token for output
        token `i`.

    Raises:
        ValueError: without a block, or with another number of gradients.

    Reference:
        Chefer, Gur and Wolf, *Generic Attention-model Explainability for Interpreting Bi-Modal and
        Encoder-Decoder Transformers*, 2021, arXiv 2103.15679.

    Example:

    >>> import numpy as np
    >>> a = np.array([[[[0.25, 0.75], [0.5, 0.5]]]])
    >>> attention_relevance([a], [np.array([[[[4.0, -4.0], [2.0, 0.0]]]])]).tolist()
    [[[2.0, 0.0], [1.0, 1.0]]]
    """
    if not len(attentions) or len(attentions) != len(gradients):
        raise ValueError(
            "`attentions` and `gradients` must hold one array a block, of one block or more. "
            f"Received: {len(attentions)} and {len(gradients)}."
        )
    total = np.eye(np.shape(attentions[0])[-1])[None]
    for weights, gradient in zip(attentions, gradients, strict=True):
        step = np.maximum(np.asarray(gradient, "float64") * weights, 0).mean(axis=1)
        total = total + step @ total
    return total


def relevance(model, images, classes=None):
    """Returns which patches of each image speak for a class.

    Args:
        model: a `ViT`, `DeiT`, `DINOv2` or `Hybrid` with classes.
        images: normalised float images `[b, h, w, c]`, as for the model.
        classes: int `[b]`, the class to explain for each image; the likeliest by default.

    Returns:
        A numpy array `[b, rows, columns]` over the grid of patches, float64, at least 0.

    Raises:
        ValueError: for a model whose attention is of another kind, or that has no classes, or
            for a class that it has not.
        RuntimeError: under another backend than TensorFlow.

    Example:

    >>> import numpy as np
    >>> from keras_vit.factory import create_model
    >>> model = create_model("vit_ti16", image_size=(32, 48), depth=2)
    >>> relevance(model, np.zeros((1, 32, 48, 3), "float32")).shape
    (1, 2, 3)
    """
    attentions, gradients = attention_gradients(model, images, classes)
    return seen_by_head(model, attention_relevance(attentions, gradients))


def attention_gradients(model, images, classes=None):
    """Returns each block's attention and the gradient of a class's logit with respect to it.

    Args, raises: those of `relevance`.

    Returns:
        Two lists of numpy arrays `[b, num_heads, n, n]`, float64, from the first block to the last.
    """
    if keras.backend.backend() != "tensorflow":
        raise RuntimeError(
            "Relevance takes its gradients by TensorFlow. Set KERAS_BACKEND=tensorflow. Received: "
            f"{keras.backend.backend()}."
        )
    import tensorflow as tf

    found = list(blocks(model, images).values())
    if not model.config.num_classes or model.config.pooling == "none":
        raise ValueError(
            "Relevance explains the logit of a class, and this model gives none: it needs "
            "`num_classes` and a pooled output. Received: "
            f"num_classes={model.config.num_classes}, pooling={model.config.pooling!r}. "
            "Rollout, attention and PCA need no classes."
        )
    head = keras.Model(found[-1].layer.output, model.output)
    tokens, attentions = found[0].tokens, []
    with tf.GradientTape() as tape:
        for block in found:
            weights = tf.convert_to_tensor(block.layer.attention_probabilities(tokens))
            tape.watch(weights)
            attentions.append(weights)
            tokens = with_attention(block.layer, tokens, weights)
        logits = head(tokens, training=False)
        chosen = tf.one_hot(_classes(classes, logits), logits.shape[-1], dtype=logits.dtype)
        score = tf.reduce_sum(logits * chosen)
    gradients = tape.gradient(score, attentions)
    return [as_float64(a) for a in attentions], [as_float64(g) for g in gradients]


def with_attention(block, tokens, weights):
    """Returns what a block makes of its input with attention that is given.

    Args:
        block: a `TransformerBlock` with softmax attention.
        tokens: its input, `[b, n, width]`.
        weights: `[b, num_heads, n, n]`. With `block.attention_probabilities(tokens)` the result
            is `block(tokens)`, but the gradient can be asked for at the weights.

    Returns:
        `[b, n, width]`.
    """
    scale = lambda layer, x: x if layer is None else layer(x)  # noqa: E731
    attention = block.attention
    *_, value = attention.qkv(block.norm1(tokens))
    attended = attention.out(merge_heads(ops.matmul(weights, value)))
    tokens = tokens + scale(block.scale1, attended)
    return tokens + scale(block.scale2, block.mlp(block.norm2(tokens)))


def _classes(classes, logits):
    if classes is None:
        return np.argmax(logits, axis=-1)
    classes, count = np.asarray(classes), logits.shape[-1]
    if classes.shape != (len(logits),) or not ((classes >= 0) & (classes < count)).all():
        raise ValueError(
            f"`classes` must hold one class of 0 to {count - 1} for each of the {len(logits)} "
            f"images. Received: {classes.tolist()}."
        )
    return classes
