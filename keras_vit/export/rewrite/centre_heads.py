"""Keys and values without their means."""

from keras_vit.export.rewrite.lean_attention import LeanAttention
from keras_vit.export.rewrite.matrices import matrix, set_matrix
from keras_vit.export.rewrite.parts import parts
from keras_vit.export.rewrite.separate_projections import SeparateProjections


def centre_heads(model, streams, observe):
    """Takes the mean off each channel of the keys and the values; in place.

    A number added to a channel of all keys adds the same to all scores of a query, which softmax
    does not see. One added to all values is added to what a query gets, since its weights sum to
    one: the next product's bias takes it over. In a trained DINOv2-S a key's channel is 36 wherever
    it is, and 8 bits are then spent on saying so.

    (Factors that make queries and keys, and the channels of the values, equally large are as exact.
    They gained nothing there, and are not done.)

    Args:
        model, streams: as for every pass, after `separate_projections`.
        observe: function from layers to a `Channels` each, see `observed`.

    Returns:
        (model, number of weights changed).
    """
    found = _attentions(model)
    layers = [product for attention in found for product in attention.inner.qkv.products[1:]]
    means = [one.mean for one in observe(layers)]
    for attention, key, value in zip(found, means[::2], means[1::2], strict=True):
        _, keys, values = attention.inner.qkv.products
        _add(keys, -key)
        _add(values, -value)
        kernel, bias = matrix(attention.inner.out)
        set_matrix(attention.inner.out, kernel, bias + value @ kernel)
    return model, 3 * len(found)


def _attentions(model):
    """Those whose softmax sees scores alone, from three products."""
    return [
        attention
        for _, _, attention in parts(model, LeanAttention)
        if isinstance(attention.inner.qkv, SeparateProjections)
    ]


def _add(layer, offset):
    kernel, bias = matrix(layer)
    set_matrix(layer, kernel, bias + offset)
