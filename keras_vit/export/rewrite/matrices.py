"""The matrix and the bias of any layer that is a linear map."""

import keras
import numpy as np

from keras_vit.layers.attention import HeadProjection


def matrix(layer):
    """Returns (kernel `[rows, columns]`, bias `[columns]`) in float64; rows are the inputs.

    Args:
        layer: a `Dense`, a `HeadProjection` or a convolution; a missing bias is zero.
    """
    kernel = keras.ops.convert_to_numpy(layer.kernel).astype("float64")
    kernel = kernel.reshape(_shape(layer))
    bias = getattr(layer, "bias", None)
    if bias is None:
        return kernel, np.zeros(kernel.shape[1])
    return kernel, keras.ops.convert_to_numpy(bias).astype("float64").reshape(-1)


def set_matrix(layer, kernel, bias):
    """Gives a layer other values in place.

    Raises:
        ValueError: for a bias where the layer has none.
    """
    layer.kernel.assign(kernel.reshape(layer.kernel.shape))
    if getattr(layer, "bias", None) is not None:
        layer.bias.assign(bias.reshape(layer.bias.shape))
    elif np.any(bias):
        raise ValueError(f"`{layer.path}` has no bias, and needs one.")


def with_bias(dense):
    """Returns a `Dense` like the given one, with a bias of zero."""
    kernel, bias = matrix(dense)
    layer = keras.layers.Dense(dense.units, name=dense.name, dtype="float32")
    layer.build((None, len(kernel)))
    set_matrix(layer, kernel, bias)
    return layer


def _shape(layer):
    # A head projection has its inputs on the first axis, all others have outputs on the last.
    if isinstance(layer, HeadProjection):
        return layer.kernel.shape[0], -1
    return -1, layer.kernel.shape[-1]
