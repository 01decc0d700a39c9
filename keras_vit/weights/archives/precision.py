"""The number formats that checkpoints are stored in, widened to what a model computes with."""

import ml_dtypes
import numpy as np

# numpy has no bfloat16: an `.npz` keeps one as a raw view of two bytes.
RAW_BFLOAT16 = np.dtype("V2")


def widened(array, place):
    """Returns a floating array as float32 (float64 stays); integers and booleans as they are.

    Args:
        array: numpy array in any number format and byte order, bfloat16 as such or raw.
        place: where it comes from, for the message.

    Raises:
        ValueError: for an array that holds no real numbers.
    """
    if array.dtype == RAW_BFLOAT16:
        array = array.view(ml_dtypes.bfloat16)
    if array.dtype == ml_dtypes.bfloat16:
        return array.astype(np.float32)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{place} holds no real numbers: its type is {array.dtype}.")
    if array.dtype.kind == "f" and array.dtype.itemsize != 8:
        return array.astype(np.float32, copy=False)
    return array.astype(array.dtype.newbyteorder("="), copy=False)
