"""How one weight of ours and the arrays of another code hold the same numbers.

A layout is a pair of pure numpy functions, inverse to each other: `to_ours(*arrays)` gives our
array, `to_theirs(ours)` the tuple of theirs. PyTorch keeps matrices as (out, in) and convolutions
as (out, in, row, column); Flax keeps them as Keras does, (in, out) and (row, column, in, out).
"""

import dataclasses
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Layout:
    """A pair of functions: theirs to ours, and ours to a tuple of theirs."""

    to_ours: Callable
    to_theirs: Callable


SAME = Layout(lambda x: x, lambda x: (x,))
MATRIX = Layout(lambda x: x.T, lambda x: (x.T,))
# Convolution kernels of PyTorch: whole, one a channel, and 1 x 1 where ours is a matrix.
CONV = Layout(lambda x: x.transpose(2, 3, 1, 0), lambda x: (x.transpose(3, 2, 0, 1),))
DEPTHWISE = Layout(lambda x: x.transpose(2, 3, 0, 1), lambda x: (x.transpose(2, 3, 0, 1),))
POINTWISE = Layout(lambda x: _one_pixel(x).T, lambda x: (x.T[:, :, None, None],))


def flax_patches(patch_size):
    """Kernel (p, q, c, width); ours is a matrix over pixels as (row, column, channel)."""
    return Layout(lambda x: x, lambda x: (x.reshape(*patch_size, -1, x.shape[-1]),))


def torch_patches(patch_size):
    """Kernel (width, c, p, q)."""
    flax = flax_patches(patch_size)
    return Layout(
        lambda x: x.transpose(2, 3, 1, 0), lambda x: (flax.to_theirs(x)[0].transpose(3, 2, 0, 1),)
    )


def flax_projections(parts):
    """`parts` kernels (width, heads, head_dim); ours is (width, parts, heads, head_dim)."""
    return _stacked(parts, axis=1)


def flax_projection_biases(parts):
    """`parts` biases (heads, head_dim); ours is (parts, heads, head_dim)."""
    return _stacked(parts, axis=0)


def flax_output(heads):
    """Kernel (heads, head_dim, width); ours is a matrix."""

    def to_ours(x):
        # Another order of the axes would give a matrix of the same shape.
        if x.ndim != 3 or x.shape[0] != heads:
            raise ValueError(f"its first of three axes must be that of the {heads} heads")
        return x.reshape(-1, x.shape[-1])

    return Layout(to_ours, lambda x: (x.reshape(heads, -1, x.shape[-1]),))


def torch_fused(parts, heads):
    """One matrix (parts * width, width), parts first, then heads."""

    def to_theirs(x):
        return (x.reshape(x.shape[0], -1).T,)

    return Layout(lambda x: _heads(x.T, parts, heads), to_theirs)


def torch_fused_bias(parts, heads):
    """One vector (parts * width,)."""
    return Layout(lambda x: _heads(x[None], parts, heads)[0], lambda x: (x.reshape(-1),))


def torch_split(parts, heads):
    """`parts` matrices (width, width)."""

    def to_ours(*matrices):
        return _heads(_side_by_side([x.T for x in matrices]), parts, heads)

    def to_theirs(x):
        return tuple(np.split(x.reshape(x.shape[0], -1).T, parts))

    return Layout(to_ours, to_theirs)


def torch_split_bias(parts, heads):
    """`parts` vectors (width,)."""

    def to_ours(*vectors):
        return _heads(_side_by_side(vectors)[None], parts, heads)[0]

    return Layout(to_ours, lambda x: tuple(np.split(x.reshape(-1), parts)))


def torch_by_head(parts, heads):
    """One 1 x 1 convolution (parts * width, c, 1, 1), heads first, then parts."""
    bias = torch_by_head_bias(parts, heads)

    def to_ours(x):
        return np.stack([bias.to_ours(column) for column in _one_pixel(x).T])

    def to_theirs(x):
        rows = np.stack([bias.to_theirs(kernel)[0] for kernel in x], axis=1)
        return (rows[:, :, None, None],)

    return Layout(to_ours, to_theirs)


def torch_by_head_bias(parts, heads):
    """One vector (parts * width,), heads first, then parts."""
    return Layout(
        lambda x: x.reshape(heads, parts, -1).swapaxes(0, 1),
        lambda x: (x.swapaxes(0, 1).reshape(-1),),
    )


def joined_matrices(parts):
    """`parts` matrices (out, in); ours is their outputs side by side."""
    return Layout(
        lambda *xs: _side_by_side([x.T for x in xs]),
        lambda x: tuple(part.T for part in np.split(x, parts, axis=1)),
    )


def joined_vectors(parts):
    """`parts` vectors; ours is one after the other."""
    return Layout(lambda *xs: _side_by_side(xs), lambda x: tuple(np.split(x, parts)))


def _one_pixel(kernel):
    """A 1 x 1 kernel (out, in, 1, 1) as (out, in)."""
    if kernel.shape[2:] != (1, 1):
        raise ValueError("it must be a 1 x 1 convolution")
    return kernel[:, :, 0, 0]


def _stacked(parts, axis):
    if parts == 1:
        return SAME
    return Layout(
        lambda *arrays: np.stack(arrays, axis),
        lambda x: tuple(np.moveaxis(x, axis, 0)),
    )


def _side_by_side(arrays):
    """Arrays of one shape, joined along the last axis."""
    if len({x.shape for x in arrays}) > 1:
        raise ValueError("they must have one shape")
    return np.concatenate(arrays, axis=-1)


def _heads(matrix, parts, heads):
    """(width, parts * heads * head_dim) to the shape of our kernel."""
    shape = (heads, -1) if parts == 1 else (parts, heads, matrix.shape[1] // (parts * heads))
    return matrix.reshape(matrix.shape[0], *shape)
