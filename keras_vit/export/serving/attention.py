"""Attention rollout inside the graph: what the model looks at, beside its answer."""

import keras
import tensorflow as tf

from keras_vit.explain.blocks import block_names, read_by_head
from keras_vit.layers.sizes import patch_grid


def attention_of(model):
    """Returns a function of normalised images to (logits, rollout).

    The rollout is that of `keras_vit.explain.rollout`, in float32: `[b, rows, columns]` over the
    grid of patches, each map sums to one.

    Args:
        model: a `ViT`, `DeiT`, `DINOv2` or `Hybrid`, in float32.

    Raises:
        ValueError: for a model whose attention is of another kind.
    """
    blocks = [model.get_layer(name) for name in block_names(model)]
    taps = keras.Model(model.input, [model.output, *(block.input for block in blocks)])
    read, prefix = read_by_head(model), model.config.num_prefix
    rows, columns = patch_grid(model.config.image_size, model.config.patch_size)

    def attend(images):
        logits, *inputs = taps(images, training=False)
        flow = None
        for block, tokens in zip(blocks, inputs, strict=True):
            attention = tf.reduce_mean(block.attention_probabilities(tokens), axis=1)
            step = 0.5 * (attention + tf.eye(attention.shape[-1]))
            flow = step if flow is None else step @ flow
        patches = tf.reduce_mean(flow[:, read, :], axis=1)[:, prefix:]
        patches /= tf.reduce_sum(patches, axis=-1, keepdims=True)
        return logits, tf.reshape(patches, [-1, rows, columns])

    return attend
