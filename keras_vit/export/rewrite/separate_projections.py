"""Queries, keys and values by a product each."""

import keras
from keras import ops

from keras_vit.export.rewrite.lean_attention import LeanAttention
from keras_vit.export.rewrite.matrices import matrix, set_matrix
from keras_vit.export.rewrite.parts import exchange, parts
from keras_vit.layers import Layer
from keras_vit.layers.flat import flat

NAMES = ("query", "key", "value")


class SeparateProjections(Layer):
    """What a `HeadProjection` of three parts gives, from three `Dense`.

    Args:
        projection: the `HeadProjection`, with its weights.
    """

    def __init__(self, projection):
        super().__init__(name=projection.name, dtype="float32")
        kernel, bias = matrix(projection)
        width = kernel.shape[1] // len(NAMES)
        self.heads = (projection.num_heads, projection.kernel.shape[-1])
        self.products = [keras.layers.Dense(width, name=n, dtype="float32") for n in NAMES]
        for index, product in enumerate(self.products):
            product.build((None, len(kernel)))
            own = slice(index * width, (index + 1) * width)
            set_matrix(product, kernel[:, own], bias[own])
        self.built = True

    def call(self, tokens):
        shape = (-1, ops.shape(tokens)[1], *self.heads)
        parts = [ops.reshape(product(flat(tokens)), shape) for product in self.products]
        return [ops.transpose(part, (0, 2, 1, 3)) for part in parts]


def separate_projections(model, streams=()):
    """Gives queries, keys and values a tensor each, and with it a range each; in place.

    Cut from one tensor they have one scale in 8 bits: in a trained DINOv2-S keys reach 12 where
    queries, scaled already, reach 0.9. The mean cosine of its int8 logits to the float ones rose
    from 0.953 to 0.976 (112 pixels, 200 images).

    Returns:
        (model, number of projections changed).
    """
    found = parts(model, LeanAttention)
    for _, _, attention in found:
        exchange(attention.inner, "qkv", SeparateProjections(attention.inner.qkv))
    return model, len(found)
