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


RESIZES = {
    "jax": corner_aligned,
    "bilinear": bilinear,
    "bilinear_antialias": bilinear_antialias,
    "bicubic": bicubic,
    "bicubic_offset": bicubic_offset,
    "bicubic_antialias": bicubic_antialias,
}


def resize_named(name):
    """Returns the function (size, new size) -> matrix called `name`.

    Raises:
        ValueError: if there is none.
    """
    if name not in RESIZES:
        raise ValueError(f"`resize` must be one of {list(RESIZES)}. Received: {name!r}.")
    return RESIZES[name]


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
    pictures = table.reshape(*grid, -1).astype(np.float64)
    rows, columns = matrix(grid[0], new_grid[0]), matrix(grid[1], new_grid[1])
    new = np.einsum("ih,jw,hwd->ijd", rows, columns, pictures, optimize=True)
    return new.reshape(1, -1, table.shape[-1]).astype(table.dtype)


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
