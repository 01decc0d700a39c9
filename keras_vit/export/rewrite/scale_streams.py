"""Residual streams in units of their own for each channel."""

import numpy as np

from keras_vit.export.rewrite.centre import change_table
from keras_vit.export.rewrite.fold_norms import put
from keras_vit.export.rewrite.matrices import matrix, set_matrix
from keras_vit.export.rewrite.norms import Rms, ScaledRms

# A channel that never moves would have a unit of nothing.
SMALLEST = 1e-3


def scale_streams(model, streams, observe):
    """Stores every channel of a stream in a unit that makes all of them equally large.

    What writes to the stream divides its columns by the units, what reads its norms multiplies its
    rows by them, and the norms alone need the tokens as they were, for their sum of squares. In
    8 bits one scale then fits all channels: in a trained DINOv2-S two of 384 channels reach 34 in
    the last blocks, where the others reach 4.

    Args:
        model, streams: as for every pass, after `fold_norms` and `centre`.
        observe: function from (layers, inputs) to a `Channels` each, see `observed`.

    Returns:
        (model, number of weights changed).

    Reference:
        Lin et al., *FQ-ViT*, 2021, arXiv 2111.13824, gives each channel a power of two instead, in
        an operator of its own.
    """
    changed = 0
    for stream in streams:
        norms = [norm.layer for norm in stream.norms]
        if not stream.closed or any(type(norm) is not Rms for norm in norms):
            continue
        largest = np.max([one.largest for one in observe(norms, inputs=True)], axis=0)
        unit = np.maximum(largest / np.median(largest), SMALLEST)
        for writer in stream.writers:
            kernel, bias = matrix(writer)
            set_matrix(writer, kernel / unit, bias / unit)
            changed += 2
        for owner, name in stream.tables:
            change_table(owner, name, lambda table, unit=unit: table / unit)
            changed += 1
        for norm in stream.norms:
            for reader in _products(model, norm):
                kernel, bias = matrix(reader)
                rows = np.tile(unit, len(kernel) // len(unit))
                set_matrix(reader, kernel * rows[:, None], bias)
                changed += 1
            model = put(model, norm, ScaledRms(norm.layer, unit))
    return model, changed


def _products(model, norm):
    """The linear layers that read a norm; three where projections were separated."""
    for owner, name in norm.readers:
        reader = getattr(owner, name) if owner else model.get_layer(name)
        yield from getattr(reader, "products", [reader])
