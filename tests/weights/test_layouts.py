"""Each layout, against what the foreign code computes with its array, and back bit for bit."""

import numpy as np
import pytest

from keras_vit.weights import layouts

WIDTH, HEADS, HEAD_DIM = 15, 3, 5
PATCH, CHANNELS = (2, 3), 7
OUT = 11


def normal(*shape):
    return np.random.default_rng(len(shape) + sum(shape)).standard_normal(shape).astype("float32")


def many(count, *shape):
    return [normal(count, *shape)[index] for index in range(count)]


# Name -> (layout, the foreign arrays, the shape of ours in the model).
CASES = {
    "same": (layouts.SAME, [normal(1, 4, 5)], (1, 4, 5)),
    "matrix": (layouts.MATRIX, [normal(OUT, WIDTH)], (WIDTH, OUT)),
    "flax_patches": (layouts.flax_patches(PATCH), [normal(*PATCH, CHANNELS, OUT)], (42, OUT)),
    "torch_patches": (layouts.torch_patches(PATCH), [normal(OUT, CHANNELS, *PATCH)], (42, OUT)),
    "flax_projections": (
        layouts.flax_projections(3),
        many(3, WIDTH, HEADS, HEAD_DIM),
        (WIDTH, 3, HEADS, HEAD_DIM),
    ),
    "flax_projections_1": (
        layouts.flax_projections(1),
        many(1, WIDTH, HEADS, HEAD_DIM),
        (WIDTH, HEADS, HEAD_DIM),
    ),
    "flax_projection_biases": (
        layouts.flax_projection_biases(2),
        many(2, HEADS, HEAD_DIM),
        (2, HEADS, HEAD_DIM),
    ),
    "flax_projection_biases_1": (
        layouts.flax_projection_biases(1),
        many(1, HEADS, HEAD_DIM),
        (HEADS, HEAD_DIM),
    ),
    "flax_output": (layouts.flax_output(HEADS), [normal(HEADS, HEAD_DIM, OUT)], (WIDTH, OUT)),
    "torch_fused": (
        layouts.torch_fused(3, HEADS),
        [normal(3 * WIDTH, WIDTH)],
        (WIDTH, 3, HEADS, HEAD_DIM),
    ),
    "torch_fused_1": (
        layouts.torch_fused(1, HEADS),
        [normal(WIDTH, WIDTH)],
        (WIDTH, HEADS, HEAD_DIM),
    ),
    "torch_fused_bias": (
        layouts.torch_fused_bias(2, HEADS),
        [normal(2 * WIDTH)],
        (2, HEADS, HEAD_DIM),
    ),
    "torch_fused_bias_1": (layouts.torch_fused_bias(1, HEADS), [normal(WIDTH)], (HEADS, HEAD_DIM)),
    "torch_split": (
        layouts.torch_split(3, HEADS),
        many(3, WIDTH, WIDTH),
        (WIDTH, 3, HEADS, HEAD_DIM),
    ),
    "torch_split_bias": (
        layouts.torch_split_bias(3, HEADS),
        many(3, WIDTH),
        (3, HEADS, HEAD_DIM),
    ),
    "joined_matrices": (layouts.joined_matrices(2), many(2, OUT, WIDTH), (WIDTH, 2 * OUT)),
    "joined_vectors": (layouts.joined_vectors(2), many(2, OUT), (2 * OUT,)),
    "conv": (layouts.CONV, [normal(OUT, CHANNELS, 2, 3)], (2, 3, CHANNELS, OUT)),
    "depthwise": (layouts.DEPTHWISE, [normal(CHANNELS, 1, 2, 3)], (2, 3, CHANNELS, 1)),
    "pointwise": (layouts.POINTWISE, [normal(OUT, WIDTH, 1, 1)], (WIDTH, OUT)),
    "torch_by_head": (
        layouts.torch_by_head(3, HEADS),
        [normal(3 * WIDTH, CHANNELS, 1, 1)],
        (CHANNELS, 3, HEADS, HEAD_DIM),
    ),
    "torch_by_head_bias": (
        layouts.torch_by_head_bias(3, HEADS),
        [normal(3 * WIDTH)],
        (3, HEADS, HEAD_DIM),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_there_and_back_is_bit_identical(name):
    layout, theirs, shape = CASES[name]
    # A patch kernel keeps its axes, for its size to be changed, until it is a matrix.
    ours = layout.to_ours(*theirs).reshape(shape)
    back = layout.to_theirs(ours)
    assert isinstance(back, tuple) and len(back) == len(theirs)
    for array, original in zip(back, theirs, strict=True):
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, original)
    other = normal(*shape)
    again = layout.to_ours(*layout.to_theirs(other)).reshape(shape)
    np.testing.assert_array_equal(again, other)


def test_every_layout_is_in_the_cases():
    named = {name for name, value in vars(layouts).items() if isinstance(value, layouts.Layout)}
    made = {
        name
        for name, value in vars(layouts).items()
        if name[0] != "_"
        and callable(value)
        and value is not layouts.Layout
        and getattr(value, "__module__", "") == layouts.__name__
    }
    assert {name.lower() for name in named} | made <= set(CASES)


def assert_same(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def exact(name):
    layout, theirs, shape = CASES[name]
    return [x.astype("float64") for x in theirs], layout.to_ours(*theirs).reshape(shape).astype(
        "float64"
    )


def test_a_torch_matrix_is_applied_from_the_other_side():
    (theirs,), ours = exact("matrix")
    x = normal(4, WIDTH).astype("float64")
    assert_same(x @ ours, np.einsum("bi,oi->bo", x, theirs))


@pytest.mark.parametrize("name, axes", [("flax_patches", "pqco"), ("torch_patches", "ocpq")])
def test_a_convolution_is_our_matrix_patch_by_patch(name, axes):
    (theirs,), ours = exact(name)
    image = normal(3 * PATCH[0], 2 * PATCH[1], CHANNELS).astype("float64")
    for row in range(3):
        for column in range(2):
            top, left = row * PATCH[0], column * PATCH[1]
            patch = image[top : top + PATCH[0], left : left + PATCH[1]]
            expected = np.einsum(f"pqc,{axes}->o", patch, theirs)
            assert_same(patch.reshape(-1) @ ours, expected)


def heads_of(projected, part):
    """(tokens, heads, head_dim) of one part of what torch projects at once, head by head."""
    start = part * WIDTH
    return np.stack(
        [
            projected[:, start + head * HEAD_DIM : start + (head + 1) * HEAD_DIM]
            for head in range(HEADS)
        ],
        axis=1,
    )


def test_the_rows_of_torchs_fused_matrix_are_queries_keys_values_each_head_by_head():
    (matrix,), kernel = exact("torch_fused")
    x = normal(4, WIDTH).astype("float64")
    ours = np.einsum("nd,dphk->pnhk", x, kernel)
    for part in range(3):
        assert_same(ours[part], heads_of(x @ matrix.T, part))
    (matrix,), kernel = exact("torch_fused_1")
    assert_same(np.einsum("nd,dhk->nhk", x, kernel), heads_of(x @ matrix.T, 0))
    (vector,), bias = exact("torch_fused_bias")
    for part in range(2):
        assert_same(bias[part], heads_of(vector[None], part)[0])
    (vector,), bias = exact("torch_fused_bias_1")
    assert_same(bias, heads_of(vector[None], 0)[0])


def test_torchs_split_matrices_are_the_parts_each_head_by_head():
    matrices, kernel = exact("torch_split")
    vectors, bias = exact("torch_split_bias")
    x = normal(4, WIDTH).astype("float64")
    ours = np.einsum("nd,dphk->pnhk", x, kernel) + bias[:, None]
    for part, (matrix, vector) in enumerate(zip(matrices, vectors, strict=True)):
        assert_same(ours[part], heads_of(x @ matrix.T + vector, 0))


def test_flax_projections_are_the_parts():
    kernels, ours = exact("flax_projections")
    biases, our_bias = exact("flax_projection_biases")
    x = normal(4, WIDTH).astype("float64")
    found = np.einsum("nd,dphk->pnhk", x, ours)
    for part, kernel in enumerate(kernels):
        assert_same(found[part], np.einsum("nd,dhk->nhk", x, kernel))
    for part, bias in enumerate(biases):
        assert_same(our_bias[part], bias)


def test_flaxs_output_takes_each_heads_values():
    (theirs,), ours = exact("flax_output")
    values = normal(4, HEADS, HEAD_DIM).astype("float64")
    expected = np.einsum("nhk,hkd->nd", values, theirs)
    assert_same(values.reshape(4, -1) @ ours, expected)


def test_joined_matrices_give_one_output_beside_the_other():
    matrices, ours = exact("joined_matrices")
    vectors, bias = exact("joined_vectors")
    x = normal(4, WIDTH).astype("float64")
    expected = [x @ m.T + v for m, v in zip(matrices, vectors, strict=True)]
    gate, value = np.split(x @ ours + bias, 2, axis=1)
    assert_same(gate, expected[0])
    assert_same(value, expected[1])


def test_convolutions_by_their_axes():
    (theirs,), ours = exact("conv")
    patch = normal(2, 3, CHANNELS).astype("float64")
    assert_same(np.einsum("pqc,pqco->o", patch, ours), np.einsum("pqc,ocpq->o", patch, theirs))
    (theirs,), ours = exact("depthwise")
    assert_same(np.einsum("pqc,pqco->c", patch, ours), np.einsum("pqc,copq->c", patch, theirs))
    (theirs,), ours = exact("pointwise")
    pixel = normal(WIDTH).astype("float64")
    assert_same(pixel @ ours, np.einsum("c,ocpq->o", pixel, theirs))


def test_coatnets_projections_come_head_by_head():
    (theirs,), ours = exact("torch_by_head")
    (vector,), bias = exact("torch_by_head_bias")
    pixel = normal(CHANNELS).astype("float64")
    projected = theirs[:, :, 0, 0] @ pixel + vector
    found = np.einsum("c,cphk->phk", pixel, ours) + bias
    for head in range(HEADS):
        for part in range(3):
            start = (head * 3 + part) * HEAD_DIM
            assert_same(found[part, head], projected[start : start + HEAD_DIM])


@pytest.mark.parametrize("name", ["pointwise", "torch_by_head"])
def test_a_larger_kernel_is_no_matrix(name):
    with pytest.raises(ValueError, match="1 x 1 convolution"):
        CASES[name][0].to_ours(normal(3 * WIDTH, CHANNELS, 3, 3))


@pytest.mark.parametrize("shape", [(HEAD_DIM, HEADS, OUT), (WIDTH, OUT)])
def test_an_output_with_its_axes_in_another_order_is_refused(shape):
    with pytest.raises(ValueError, match="must be that of the 3 heads"):
        layouts.flax_output(HEADS).to_ours(normal(*shape))


@pytest.mark.parametrize("name", ["torch_split", "torch_split_bias", "joined_matrices"])
def test_parts_of_several_shapes_are_refused(name):
    layout, theirs, _ = CASES[name]
    with pytest.raises(ValueError, match="one shape"):
        layout.to_ours(*theirs[:-1], theirs[-1][:-1])


def test_a_fused_matrix_that_the_heads_do_not_divide_is_refused():
    with pytest.raises(ValueError):
        layouts.torch_fused(3, 4).to_ours(normal(3 * WIDTH, WIDTH))
