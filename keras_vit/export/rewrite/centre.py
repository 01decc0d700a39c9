"""Residual streams whose tokens have a mean of zero, so that a norm need not take it off."""

import keras
import numpy as np

from keras_vit.export.rewrite.fold_norms import as_plain, put
from keras_vit.export.rewrite.matrices import matrix, set_matrix
from keras_vit.export.rewrite.norms import PlainNorm, Rms


def centre(model, streams):
    """Takes the mean off all that is added to a stream; layer norm is then a root mean square.

    The norms would take it off anyway, and nothing else reads the stream. In Swin and CoAtNet
    that is so in the last stage: what joins two stages reads the tokens as they are.

    Returns:
        (model, number of weights changed).
    """
    changed = 0
    for stream in streams:
        if not stream.closed:
            continue
        for writer in stream.writers:
            kernel, bias = matrix(writer)
            set_matrix(writer, _off(kernel), _off(bias))
            changed += 2
        for owner, name in stream.tables:
            change_table(owner, name, _off)
            changed += 1
        for norm in stream.norms:
            if type(norm.layer) is PlainNorm:
                model = put(model, norm, as_plain(Rms, norm.layer))
    return model, changed


def change_table(owner, name, change):
    """Gives a weight, or a constant array, `[..., width]` the value that `change` makes of it."""
    table = getattr(owner, name)
    if isinstance(table, np.ndarray):
        setattr(owner, name, change(table))
    else:
        table.assign(change(keras.ops.convert_to_numpy(table).astype("float64")))


def _off(x):
    return x - x.mean(axis=-1, keepdims=True)
