"""Layouts hold the same numbers: each is checked against the sum that the other code computes."""

import numpy as np
import pytest

from keras_vit.weights import layouts

WIDTH, HEADS, SIZE = 15, 3, 5


@pytest.fixture
def draw():
    generator = np.random.default_rng(11)
    return lambda *shape: generator.standard_normal(shape)


CASES = {
    "same": (layouts.SAME, [(7, 5)]),
    "matrix": (layouts.MATRIX, [(7, 5)]),
    "flax_patches": (layouts.flax_patches((2, 3)), [(2, 3, 5, 7)]),
    "torch_patches": (layouts.torch_patches((2, 3)), [(7, 5, 2, 3)]),
    "flax_projections": (layouts.flax_projections(3), [(15, 3, 5)] * 3),
    "flax_projection": (layouts.flax_projections(1), [(15, 3, 5)]),
    "flax_projection_biases": (layouts.flax_projection_biases(2), [(3, 5)] * 2),
    "flax_output": (layouts.flax_output(3), [(3, 5, 15)]),
    "torch_fused": (layouts.torch_fused(3, 3), [(45, 15)]),
    "torch_fused_one": (layouts.torch_fused(1, 3), [(15, 15)]),
    "torch_fused_bias": (layouts.torch_fused_bias(3, 3), [(45,)]),
    "torch_fused_bias_one": (layouts.torch_fused_bias(1, 3), [(15,)]),
    "torch_split": (layouts.torch_split(3, 3), [(15, 15)] * 3),
    "torch_split_bias": (layouts.torch_split_bias(3, 3), [(15,)] * 3),
    "joined_matrices": (layouts.joined_matrices(2), [(7, 5)] * 2),
    "joined_vectors": (layouts.joined_vectors(2), [(7,)] * 2),
}


@pytest.mark.parametrize("name", CASES)
def test_back_and_forth_gives_the_same_arrays(name, draw):
    layout, shapes = CASES[name]
    arrays = [draw(*shape) for shape in shapes]
    ours = layout.to_ours(*arrays)
    if name.endswith("_patches"):
        ours = ours.reshape(-1, ours.shape[-1])  # as the model keeps it: a matrix over pixels
    back = layout.to_theirs(ours)
    assert isinstance(back, tuple) and len(back) == len(arrays)
    for array, found in zip(arrays, back, strict=True):
        np.testing.assert_array_equal(found, array)


def test_patch_kernels_give_the_convolutions_numbers(draw):
    patch, flax = draw(2, 3, 5), draw(2, 3, 5, 7)
    torch = flax.transpose(3, 2, 0, 1)
    expected = np.zeros(7)
    for row in range(2):
        for column in range(3):
            for channel in range(5):
                expected += patch[row, column, channel] * torch[:, channel, row, column]
    for layout, kernel in (
        (layouts.flax_patches((2, 3)), flax),
        (layouts.torch_patches((2, 3)), torch),
    ):
        ours = layout.to_ours(kernel).reshape(-1, 7)
        np.testing.assert_allclose(patch.reshape(-1) @ ours, expected, rtol=1e-12)


def ours_projected(tokens, kernel, bias):
    """[n, D] with our kernel [D, parts, H, d] and bias [parts, H, d] to [parts, H, n, d]."""
    return np.einsum("nD,DpHd->pHnd", tokens, kernel) + bias[:, :, None]


def test_a_fused_torch_projection_is_parts_first_then_heads(draw):
    tokens, weight, bias = draw(4, WIDTH), draw(3 * WIDTH, WIDTH), draw(3 * WIDTH)
    # timm: qkv(x).reshape(N, 3, heads, head_dim).permute(1, 2, 0, 3)
    expected = (tokens @ weight.T + bias).reshape(4, 3, HEADS, SIZE).transpose(1, 2, 0, 3)
    kernel = layouts.torch_fused(3, HEADS).to_ours(weight)
    ours = ours_projected(tokens, kernel, layouts.torch_fused_bias(3, HEADS).to_ours(bias))
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_split_torch_projections_are_query_key_value(draw):
    tokens = draw(4, WIDTH)
    weights, biases = [draw(WIDTH, WIDTH) for _ in range(3)], [draw(WIDTH) for _ in range(3)]
    expected = [
        (tokens @ weight.T + bias).reshape(4, HEADS, SIZE).transpose(1, 0, 2)
        for weight, bias in zip(weights, biases, strict=True)
    ]
    kernel = layouts.torch_split(3, HEADS).to_ours(*weights)
    ours = ours_projected(tokens, kernel, layouts.torch_split_bias(3, HEADS).to_ours(*biases))
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_flax_projections_and_output(draw):
    tokens, kernels = draw(4, WIDTH), [draw(WIDTH, HEADS, SIZE) for _ in range(3)]
    biases, out = [draw(HEADS, SIZE) for _ in range(3)], draw(HEADS, SIZE, WIDTH)
    kernel = layouts.flax_projections(3).to_ours(*kernels)
    ours = ours_projected(tokens, kernel, layouts.flax_projection_biases(3).to_ours(*biases))
    for part, (theirs, bias) in enumerate(zip(kernels, biases, strict=True)):
        expected = np.einsum("nD,Dhd->hnd", tokens, theirs) + bias[:, None]
        np.testing.assert_allclose(ours[part], expected, rtol=1e-12)
    mixed = ours[2]
    expected = np.einsum("hnd,hdD->nD", mixed, out)
    matrix = layouts.flax_output(HEADS).to_ours(out)
    joined = mixed.transpose(1, 0, 2).reshape(4, -1)
    np.testing.assert_allclose(joined @ matrix, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "layout, shapes",
    [
        (layouts.flax_output(3), [(5, 3, 15)]),
        (layouts.flax_output(3), [(15, 15)]),
        (layouts.flax_projections(2), [(15, 3, 5), (15, 5, 3)]),
        # The sum is right, the parts are not.
        (layouts.torch_split(3, 3), [(14, 15), (16, 15), (15, 15)]),
        (layouts.torch_split_bias(3, 3), [(14,), (16,), (15,)]),
        (layouts.joined_matrices(2), [(6, 5), (8, 5)]),
        (layouts.joined_vectors(2), [(6,), (8,)]),
        (layouts.torch_fused(3, 3), [(15, 3, 15)]),
        (layouts.torch_fused_bias(3, 3), [(3, 15)]),
    ],
)
def test_shapes_that_only_seem_to_fit_are_refused(layout, shapes, draw):
    with pytest.raises(ValueError):
        layout.to_ours(*(draw(*shape) for shape in shapes))
