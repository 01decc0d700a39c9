"""Windows of a map, and which of their tokens may see which: pure functions.

Liu et al., *Swin Transformer: Hierarchical Vision Transformer using Shifted Windows*, 2021, arXiv
2103.14030.
"""

import functools

import numpy as np
from keras import ops


def partition(images, window):
    """Cuts maps into windows: `[b, h, w, c]` to `[b * windows, rows * columns, c]`.

    Windows come row by row, and so do the tokens of a window.

    Args:
        images: maps whose sides are static multiples of the window's.
        window: (rows, columns) of a window.
    """
    _, height, width, channels = images.shape
    rows, columns = window
    # The batch joins the windows' rows: rank 5 is all that a transpose needs.
    x = ops.reshape(images, (-1, rows, width // columns, columns, channels))
    x = ops.transpose(x, (0, 2, 1, 3, 4))
    return ops.reshape(x, (-1, rows * columns, channels))


def merge(windows, window, size):
    """Puts windows together again: the reverse of `partition`.

    Args:
        windows: `[b * windows, rows * columns, c]`.
        window: (rows, columns) of a window.
        size: (height, width) of the maps.
    """
    (rows, columns), (height, width) = window, size
    x = ops.reshape(windows, (-1, width // columns, rows, columns, windows.shape[-1]))
    x = ops.transpose(x, (0, 2, 1, 3, 4))
    return ops.reshape(x, (-1, height, width, windows.shape[-1]))


def offset_count(grid):
    """Returns how many offsets two tokens of a grid can have."""
    return (2 * grid[0] - 1) * (2 * grid[1] - 1)


@functools.cache
def relative_index(grid, prefix=0):
    """Returns which entry of a table of offsets belongs to each pair of tokens.

    The table holds all offsets of a query from a key, `(2 * rows - 1) * (2 * columns - 1)`, row by
    row. Tokens before those of the grid have no offset: with them, the table ends with three more
    entries, for such a query, such a key, and both (as in BEiT, arXiv 2106.08254).

    Args:
        grid: (rows, columns) of the tokens.
        prefix: number of tokens before those of the grid.

    Returns:
        int32 array `[n, n]`, query by key; `n` counts the tokens before, too.

    Example:

    >>> relative_index((2, 2))[0].tolist()
    [4, 3, 1, 0]
    """
    rows, columns = np.divmod(np.arange(grid[0] * grid[1]), grid[1])
    down = rows[:, None] - rows + grid[0] - 1
    right = columns[:, None] - columns + grid[1] - 1
    offsets = (down * (2 * grid[1] - 1) + right).astype("int32")
    index, last = np.pad(offsets, (prefix, 0)), offset_count(grid)
    index[:prefix], index[:, :prefix], index[:prefix, :prefix] = last, last + 1, last + 2
    return index


@functools.cache
def shift_mask(size, window, shift):
    """Returns what is added to the scores in shifted windows: -100 for strangers, else 0.

    A shifted map is rolled, so that windows at its lower and right end hold tokens of opposite
    borders, which must not see one another. (-100 is the reference's value: its exponential is
    zero in float32, and a row of nothing else stays finite.)

    Args:
        size: (height, width) of the map, multiples of the window's.
        window: (rows, columns) of a window.
        shift: (rows, columns) that the map was rolled by.

    Returns:
        float32 array `[windows, n, n]`.
    """
    down, right = (_regions(*axis) for axis in zip(size, window, shift, strict=True))
    (rows, columns), regions = window, 3 * down[:, None] + right
    regions = regions.reshape(size[0] // rows, rows, size[1] // columns, columns)
    regions = regions.transpose(0, 2, 1, 3).reshape(-1, rows * columns)
    return np.where(regions[:, :, None] == regions[:, None], 0.0, -100.0).astype("float32")


def _regions(size, window, shift):
    """For one axis of a rolled map: 0 before the last window, then 1, and 2 for what came round."""
    place = np.arange(size)
    return (place >= size - window).astype(int) + (place >= size - shift) * (shift > 0)


def fitted_window(size, window, shift):
    """Returns the window and shift for a map: an axis that one window covers is not cut.

    Args:
        size: (height, width) of the map.
        window: (rows, columns) wanted.
        shift: whether the windows are shifted, by half of their size.

    Returns:
        `(rows, columns), (down, right)`.

    Example:

    >>> fitted_window((14, 6), (7, 7), True)
    ((7, 6), (3, 0))
    """
    sides = tuple(min(side, length) for side, length in zip(window, size, strict=True))
    shifts = tuple(
        side // 2 if shift and side < length else 0
        for side, length in zip(sides, size, strict=True)
    )
    return sides, shifts


def padding(size, window):
    """Returns (bottom, right): what a map needs to be made of whole windows."""
    return tuple(-length % side for length, side in zip(size, window, strict=True))
