"""Some rows of a batch alone, as a worker makes them, and the others that these are mixed with."""

import numpy as np
import tensorflow as tf

from keras_vit.data.order import fold


def rows_before(rows, parts, batch_size):
    """Returns the rows that each of some parts needs, and at the end those that are wanted.

    Args:
        rows: the wanted places in a batch.
        parts: list of (place in a recipe, part that works on whole batches). A part that says by a
            method `partners(rows, batch_size)` which rows others are mixed with, and has a method
            `blend(batch, partners, keys)`, needs those alone.
        batch_size: rows of a whole batch.

    Returns:
        A list of arrays, one more than there are parts.

    Example:

    >>> from keras_vit.data.augment import MixUp
    >>> [rows.tolist() for rows in rows_before([0, 1], [(0, MixUp())], 8)]
    [[0, 1, 7], [0, 1]]
    """
    chain = [np.asarray(rows)]
    for _, part in reversed(parts):
        if hasattr(part, "partners"):
            chain.append(np.union1d(chain[-1], part.partners(chain[-1], batch_size)))
        else:
            chain.append(np.arange(batch_size))
    return chain[::-1]


def mixed_rows(parts, chain, images, targets, keys):
    """What parts that mix images make of some rows of a batch.

    Args:
        parts: list of (place in a recipe, part of stage `"labelled"`).
        chain: what `rows_before` returned for them.
        images: those of the first rows of the chain.
        targets: a tuple of their labels, or of nothing where there are no parts.
        keys: int64 `[b, 2]`, those of the whole batch.

    Returns:
        A tuple of images and labels of the last rows.
    """
    batch = (images, *targets)
    for (place, part), have, wanted in zip(parts, chain[:-1], chain[1:], strict=True):
        batch = _mixed(part, batch, fold(keys, place), have, wanted)
    return batch


def _mixed(part, batch, keys, have, wanted):
    def taken(tensors, rows):
        if np.array_equal(rows, have):
            return tensors
        places = np.searchsorted(have, rows)
        return tuple(tf.gather(tensor, places) for tensor in tensors)

    if len(wanted) == keys.shape[0] or not hasattr(part, "partners"):
        return taken(part(*batch, keys), wanted)
    partners = part.partners(wanted, keys.shape[0])
    one_key = getattr(part, "per", None) == "batch"
    keys = keys[:1] if one_key else tf.gather(keys, wanted)
    return part.blend(taken(batch, wanted), taken(batch, partners), keys)
