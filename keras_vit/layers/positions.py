"""Position tables as pure functions of the grid."""

import numpy as np


def sincos2d(grid, width, last_frequency=True):
    """Returns the fixed 2-D sine-cosine table.

    Column before row: `[sin(x w), cos(x w), sin(y w), cos(y w)]`, each for `width / 4`
    frequencies `w`.

    Args:
        grid: (rows, columns) of the patches.
        width: size of a position vector, a multiple of 4.
        last_frequency: True for `w_k = 10000 ** (-k / (q - 1))` (MoCo-v3, big_vision: the last
            is exactly 1/10000), False for `10000 ** (-k / q)` (MAE), with `q = width / 4`.

    Returns:
        float64 array `[rows * columns, width]`, row by row.

    Raises:
        ValueError: if `width` is not a multiple of 4.

    Reference:
        Chen, Xie, He, *An Empirical Study of Training Self-Supervised Vision Transformers*,
        2021, arXiv 2104.02057.

    Example:

    >>> sincos2d((2, 3), 8)[5].round(4).tolist()
    [0.9093, 0.0002, -0.4161, 1.0, 0.8415, 0.0001, 0.5403, 1.0]
    """
    if width % 4:
        raise ValueError(
            f"`width` must be a multiple of 4 for sincos2d positions. Received: {width}."
        )
    quarter = width // 4
    steps = max(quarter - 1, 1) if last_frequency else quarter
    frequencies = 10000.0 ** (-np.arange(quarter) / steps)
    rows, columns = np.divmod(np.arange(grid[0] * grid[1]), grid[1])
    x, y = columns[:, None] * frequencies, rows[:, None] * frequencies
    return np.concatenate([np.sin(x), np.cos(x), np.sin(y), np.cos(y)], axis=1)
