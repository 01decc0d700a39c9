"""Gamma and beta of the norms, into the layers that read them."""

import keras
import numpy as np

from keras_vit.export.rewrite.matrices import matrix, set_matrix, with_bias
from keras_vit.export.rewrite.norms import PlainNorm
from keras_vit.export.rewrite.parts import exchange, replaced
from keras_vit.layers import LayerNorm


def fold_norms(model, streams):
    """Scales the rows of the readers by gamma, and adds beta's share to their biases.

    A gamma of 40 on three channels is otherwise a norm whose other channels get no bits.

    Returns:
        (model, number of weights changed).

    Reference:
        Li et al., *RepQ-ViT*, 2022, arXiv 2212.08254, scales the norms' channels so.
    """
    changed = 0
    for norm in [norm for stream in streams for norm in stream.norms]:
        if norm.readers is None or type(norm.layer) is not LayerNorm:
            continue
        gamma, beta = (
            keras.ops.convert_to_numpy(weight).astype("float64")
            for weight in (norm.layer.gamma, norm.layer.beta)
        )
        for owner, name in norm.readers:
            reader = getattr(owner, name) if owner else model.get_layer(name)
            if getattr(reader, "bias", None) is None:
                reader = with_bias(reader)
                model = exchanged(model, owner, name, reader)
            kernel, bias = matrix(reader)
            repeats = len(kernel) // len(gamma)
            bias = bias + np.tile(beta, repeats) @ kernel
            set_matrix(reader, kernel * np.tile(gamma, repeats)[:, None], bias)
            changed += 2
        model = put(model, norm, as_plain(PlainNorm, norm.layer))
    return model, changed


def as_plain(kind, norm):
    """Returns a norm of another kind with the same epsilon and name."""
    return kind(norm.epsilon, name=norm.name, dtype="float32")


def put(model, norm, part):
    """Returns the model with another layer in a norm's place."""
    norm.layer = part
    return exchanged(model, norm.owner, norm.name, part)


def exchanged(model, owner, name, part):
    """Returns the model with another layer in a place of an owner, or of the graph itself."""
    if owner is None:
        return replaced(model, {name: part})
    exchange(owner, name, part)
    return model
