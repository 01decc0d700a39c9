"""Position tables and patch kernels at another size, each way as a matrix per axis.

Every method here is separable: `new = A_rows · grid · A_columnsᵀ` for each channel, so grids need
not be square. Codes differ in three choices: where the samples lie (corner-aligned or half-pixel),
the kernel (linear, cubic with a = -0.75 or -0.5), and whether it widens when the grid shrinks
(antialias). On trained tables the choices differ by more than rounding, so the default follows
the source of the weights.
"""

import math

import numpy as np


def corner_aligned(size, new_size):
    """Linear, first onto first and last onto last: `scipy.ndimage.zoom(order=1)`, JAX's way."""
    if size == 1 or new_size == 1:
        places = np.zeros(new_size)
    else:
        places = np.arange(new_size) * (size - 1) / (new_size - 1)
    return _weighed(places, size, _linear, 1.0, clamp=True)


def bilinear(size, new_size):
    """Linear with half-pixel centres, no antialias: PyTorch's `interpolate`."""
    return _weighed(_centres(size, new_size), size, _linear, 1.0, clamp=True)


def bilinear_antialias(size, new_size):
    """Linear with half-pixel centres, widened where the grid shrinks: `jax.image.resize`."""
    return _weighed(_centres(size, new_size), size, _linear, max(1.0, size / new_size))


def bicubic(size, new_size):
    """Cubic, a = -0.75, border repeated, no antialias: PyTorch's `interpolate` (DeiT, MAE, HF)."""
    return _weighed(_centres(size, new_size), size, _cubic(-0.75), 1.0, clamp=True)


def bicubic_offset(size, new_size):
    """As `bicubic`, but for a grid said to be 0.1 larger: DINOv2's own code, without registers."""
    places = (np.arange(new_size) + 0.5) * size / (new_size + 0.1) - 0.5
    return _weighed(places, size, _cubic(-0.75), 1.0, clamp=True)


def bicubic_antialias(size, new_size):
    """Cubic, a = -0.5, weights renormalised at the border, antialias: timm's way."""
    return _weighed(_centres(size, new_size), size, _cubic(-0.5), max(1.0, size / new_size))


def nearest(size, new_size):
    """The cell that a new cell's first edge lies in: PyTorch's `nearest` (TimeSformer)."""
    return np.eye(size)[np.arange(new_size) * size // new_size]


def geometric(size, new_size):
    """Linear between places that lie closer together in the middle: timm's way for offsets.

    The offsets of a table are spread so that their steps grow geometrically outwards and the
    outermost lies about where the new one does: near offsets are what small and large windows
    share. Odd sizes only; an axis that keeps its size is not quite left as it is.

    Reference:
        Bao et al., *BEiT: BERT Pre-Training of Image Transformers*, 2021, arXiv 2106.08254.
    """
    if size == 1:
        return np.ones((new_size, 1))
    half, new_half = size // 2, new_size // 2
    steps = _ratio(half, new_half) ** np.arange(half)
    places = np.concatenate([-np.cumsum(steps)[::-1], [0.0], np.cumsum(steps)])
    wanted = np.clip(np.arange(-new_half, new_half + 1), places[0], places[-1])
    # The interpolation of each unit vector is a column of the matrix.
    return np.stack([np.interp(wanted, places, unit) for unit in np.eye(size)], axis=1)


RESIZES = {
    "jax": corner_aligned,
    "bilinear": bilinear,
    "bilinear_antialias": bilinear_antialias,
    "bicubic": bicubic,
    "bicubic_offset": bicubic_offset,
    "bicubic_antialias": bicubic_antialias,
    "nearest": nearest,
}
# For tables of offsets.
OFFSET_RESIZES = {**RESIZES, "geometric": geometric}


def resize_named(name, resizes=RESIZES):
    """Returns the function (size, new size) -> matrix called `name`.

    Raises:
        ValueError: if there is none.
    """
    if name not in resizes:
        raise ValueError(f"`resize` must be one of {list(resizes)}. Received: {name!r}.")
    return resizes[name]


def resize_grid(table, grid, new_grid, resize="bicubic"):
    """Resizes a table of patch positions.

    Args:
        table: `[1, rows * columns, width]`, row by row, without entries for other tokens.
        grid: (rows, columns) of the table.
        new_grid: (rows, columns) wanted.
        resize: one of `RESIZES`.

    Returns:
        `[1, new_rows * new_columns, width]` in the table's dtype, computed in float64.

    Raises:
        ValueError: for an unknown `resize`, or a table that is not of the grid.

    Example:

    >>> resize_grid(np.array([1.0, 2, 4, 8]).reshape(1, 4, 1), (1, 4), (1, 3), "jax").ravel()
    array([1., 3., 8.])
    """
    matrix = resize_named(resize)
    if table.shape[1] != grid[0] * grid[1]:
        raise ValueError(
            f"A grid of {grid[0]} x {grid[1]} has {grid[0] * grid[1]} positions. "
            f"Received: {table.shape[1]}."
        )
    if tuple(grid) == tuple(new_grid):  # also by "bicubic_offset", as in DINOv2's code
        return table
    return _resized(table[0], grid, new_grid, matrix)[None]


def resize_patches(kernel, patch_size, resize="bilinear_antialias"):
    """Resizes a patch projection so that resized patches give what the patches gave.

    The pseudo-inverse resize (PI-resize) of FlexiViT: with `B` the matrix that resizes a patch
    from the old size to the new, the new kernel `w'` is the least-squares solution of
    `(B x)ᵀ w' = xᵀ w` for all patches `x`: exact when patches grow.

    Args:
        kernel: `[p, q, channels, width]`.
        patch_size: new (height, width).
        resize: one of `RESIZES`.

    Returns:
        `[*patch_size, channels, width]` in the kernel's dtype.

    Reference:
        Beyer et al., *FlexiViT: One Model for All Patch Sizes*, 2022, arXiv 2212.08013.
    """
    matrix = resize_named(resize)
    if kernel.shape[:2] == tuple(patch_size):
        return kernel
    rows, columns = (
        # kron(A, C)'s pseudo-inverse is the Kronecker product of theirs: one axis at a time.
        np.linalg.pinv(matrix(old, new).T)
        for old, new in zip(kernel.shape[:2], patch_size, strict=True)
    )
    exact = kernel.astype(np.float64)
    new = np.einsum("ip,jq,pqcd->ijcd", rows, columns, exact, optimize=True)
    return new.astype(kernel.dtype)


def resize_offsets(table, grid, new_grid, resize="bicubic"):
    """Resizes a table with an entry for each offset between two tokens of a grid.

    Args:
        table: `[(2 * rows - 1) * (2 * columns - 1), heads]`, row by row; further rows, of tokens
            before the grid, stay as they are.
        grid: (rows, columns) of the tokens that it is for.
        new_grid: (rows, columns) wanted.
        resize: one of `OFFSET_RESIZES`.

    Returns:
        The table for the new grid, in the table's dtype, computed in float64.
    """
    matrix = resize_named(resize, OFFSET_RESIZES)
    if tuple(grid) == tuple(new_grid):
        return table
    offsets, new_offsets = ([2 * side - 1 for side in sides] for sides in (grid, new_grid))
    table, others = np.split(table, [math.prod(offsets)])
    return np.concatenate([_resized(table, offsets, new_offsets, matrix), others])


def _resized(table, grid, new_grid, matrix):
    """A table `[rows * columns, width]` along its rows and along its columns."""
    pictures = table.reshape(*grid, -1).astype(np.float64)
    rows, columns = matrix(grid[0], new_grid[0]), matrix(grid[1], new_grid[1])
    new = np.einsum("ih,jw,hwd->ijd", rows, columns, pictures, optimize=True)
    return new.reshape(-1, table.shape[-1]).astype(table.dtype)


def _ratio(count, total):
    """The ratio, from 1.01 to 1.5, at which `count` steps that start with 1 add up to `total`.

    Found by halving to 1e-6, as in the reference.
    """
    low, high = 1.01, 1.5
    while high - low > 1e-6:
        middle = (low + high) / 2
        if (middle**count - 1) / (middle - 1) > total:
            high = middle
        else:
            low = middle
    return middle


def _centres(size, new_size):
    """Where the centres of the new cells lie among those of the old."""
    return (np.arange(new_size) + 0.5) * size / new_size - 0.5


def _weighed(places, size, kernel, width, clamp=False):
    """The matrix (places, size) of the weights that `kernel`, widened by `width`, gives.

    Beyond the border, weights go to the border's cell (`clamp`), or are left out and the
    others made to add up to one.
    """
    reach = 2 * math.ceil(width) + 1
    weights = np.zeros((len(places), size))
    for row, place in enumerate(places):
        taps = np.arange(math.floor(place) - reach, math.floor(place) + reach + 1)
        values = kernel((taps - place) / width)
        if clamp:
            np.add.at(weights[row], np.clip(taps, 0, size - 1), values)
        else:
            inside = (taps >= 0) & (taps < size)
            weights[row, taps[inside]] = values[inside] / values[inside].sum()
    return weights


def _linear(t):
    return np.maximum(1.0 - np.abs(t), 0.0)


def _cubic(a):
    def kernel(t):
        t = np.abs(t)
        near = (a + 2) * t**3 - (a + 3) * t**2 + 1
        far = a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a
        return np.where(t <= 1, near, np.where(t < 2, far, 0.0))

    return kernel
