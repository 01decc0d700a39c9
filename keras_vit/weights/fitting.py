"""Arrays of another image size, patch size or position convention, fitted to a model.

Each function returns the fitted array and a note on what was done, empty if nothing was. What had
to be computed is float64: it is rounded once, to the dtype of the model's weight.
"""

import math

import numpy as np

from keras_vit.layers.sizes import patch_grid
from keras_vit.weights.resample import resize_grid, resize_offsets, resize_patches


def fit_positions(table, config, checkpoint, resize):
    """Fits a position table to the grid, and to whether the class token has a position."""
    grid, rows = checkpoint.grid, checkpoint.position_rows
    new_grid = patch_grid(config.image_size, config.patch_size)
    notes = []
    prefix, patches = table[:, :rows], table[:, rows:]
    if grid != new_grid:
        patches = resize_grid(patches.astype(np.float64), grid, new_grid, resize)
        notes.append(f"resized from {_by(grid)} to {_by(new_grid)} ({resize})")
    if not _class_has_a_row(config):
        return patches, "; ".join(notes)
    if not rows:
        notes.append("the class token's position is zero")
        prefix = np.zeros_like(table[:, :1])
    return np.concatenate([prefix[:, :1], patches], axis=1), "; ".join(notes)


def fit_time(table, frames, resize):
    """Fits a table of places in time, `[1, frames, width]`, to another number of frames."""
    theirs = table.shape[1]
    if theirs == frames:
        return table, ""
    table = resize_grid(table.astype(np.float64), (theirs, 1), (frames, 1), resize)
    return table, f"resized from {theirs} to {frames} frames ({resize})"


def fit_prefix(token, first, table, config, rows):
    """Adds the positions of tokens that have none of their own in the model: the same sum.

    Args:
        token: `[1, m, width]`, class token or registers.
        first: which row of the table belongs to the first of them.
        table: the file's position table, or None.
        config: the model's config.
        rows: rows of the table that belong to tokens before the patches.
    """
    keeps_its_row = first == 0 and _class_has_a_row(config)
    if table is None or keeps_its_row or rows <= first:
        return token, ""
    positions = table[:, first : first + token.shape[1]].astype(np.float64)
    return token + positions, "its position added to it"


def fit_kernel(kernel, config, resize):
    """Fits a patch kernel `(p, q, channels, width)` to the patch size; returns our matrix."""
    note = ""
    patch_size = config.projection_size
    if kernel.shape[:2] != patch_size:
        sizes = f"from {_by(kernel.shape[:2])} to {_by(patch_size)}"
        note = f"patches resized {sizes} (pseudo-inverse, {resize})"
        kernel = resize_patches(kernel.astype(np.float64), patch_size, resize)
    return kernel.reshape(math.prod(kernel.shape[:3]), kernel.shape[3]), note


def fit_offsets(table, grid, new_grid, resize):
    """Fits a table of offsets between tokens to another grid of tokens.

    Args:
        table: `[offsets, heads]`.
        grid: (rows, columns) that the file tells; where it is not of the table, a square is.
        new_grid: (rows, columns) of the model.
        resize: one of `OFFSET_RESIZES`.

    Raises:
        ValueError: if the table is of neither grid, and no square.
    """
    candidates = [grid, new_grid, ((math.isqrt(len(table)) + 1) // 2,) * 2]
    fitting = [sides for sides in candidates if math.prod(2 * s - 1 for s in sides) == len(table)]
    if not fitting:
        raise ValueError("nothing tells the grid that it is for: state the size of its images")
    if fitting[0] == new_grid:
        return table, ""
    table = resize_offsets(table.astype(np.float64), fitting[0], new_grid, resize)
    return table, f"resized from {_by(fitting[0])} to {_by(new_grid)} tokens ({resize})"


def _class_has_a_row(config):
    return config.class_token and config.class_position


def _by(grid):
    return f"{grid[0]}×{grid[1]}"
