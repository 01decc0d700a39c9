import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.ndimage

from keras_vit.weights.resample import (
    OFFSET_RESIZES,
    RESIZES,
    geometric,
    resize_grid,
    resize_named,
    resize_offsets,
    resize_patches,
)

FIXTURE = Path(__file__).parents[1] / "fixtures" / "patch_resize.npz"
SOURCE = np.array([1.0, 2, 4, 8])
# Target size -> [1, 2, 4, 8] resized, computed with scipy and PyTorch.
GOLDEN = {
    "jax": {
        6: [1, 1.6, 2.4, 3.6, 5.6, 8],
        3: [1, 3, 8],
        8: [1, 1.428571, 1.857143, 2.571429, 3.428571, 4.571429, 6.285714, 8],
    },
    "bilinear": {
        6: [1, 1.5, 2.333333, 3.666667, 6, 8],
        3: [1.166667, 3, 7.333333],
        8: [1, 1.25, 1.75, 2.5, 3.5, 5, 7, 8],
    },
    "bilinear_antialias": {
        6: [1, 1.5, 2.333333, 3.666667, 6, 8],
        3: [1.3, 3, 6.8],
        8: [1, 1.25, 1.75, 2.5, 3.5, 5, 7, 8],
    },
    "bicubic": {
        6: [0.913194, 1.3125, 2.304398, 3.383102, 6.1875, 8.347222],
        3: [1.108796, 2.71875, 7.460648],
        8: [0.894531, 1.15625, 1.5625, 2.417969, 3.160156, 5.117188, 7.164062, 8.421875],
    },
    "bicubic_antialias": {
        6: [0.934211, 1.352941, 2.252315, 3.539352, 6.235294, 8.263158],
        3: [1.132723, 2.894397, 7.125858],
        8: [0.911765, 1.145985, 1.641221, 2.382812, 3.335938, 5.022901, 7.284672, 8.352941],
    },
}
SIZES = [(1, 1), (1, 3), (3, 1), (2, 5), (5, 2), (5, 7), (7, 5), (7, 3), (5, 5), (4, 11)]


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def line(values, new_size, resize):
    """A grid of one row, resized, and the same as a grid of one column: they must agree."""
    table = np.asarray(values, "float64").reshape(1, -1, 1)
    rows = resize_grid(table, (1, len(values)), (1, new_size), resize).ravel()
    columns = resize_grid(table, (len(values), 1), (new_size, 1), resize).ravel()
    np.testing.assert_allclose(rows, columns, rtol=1e-14)
    return rows


@pytest.mark.parametrize(
    "resize, size", [(name, size) for name, rows in GOLDEN.items() for size in rows]
)
def test_golden_vectors(resize, size):
    np.testing.assert_allclose(line(SOURCE, size, resize), GOLDEN[resize][size], atol=5e-7)


def test_an_offset_of_a_tenth_by_hand():
    """Three cells of two, said to be 3.1: the first lies at 0.5 * 2 / 3.1 - 0.5 = -0.177419.

    Its taps -2, -1, 0 and 1 have the weights W(1.822581), W(0.822581), W(0.177419) and
    W(1.177419); all but the last fall on cell 0.
    """
    # 1.177419 = 73 / 62. W(t) = -0.75 t³ + 3.75 t² - 6 t + 3 where 1 < t < 2, with a = -0.75:
    # (-0.75 * 389017 + 3.75 * 5329 * 62 - 6 * 73 * 3844 + 3 * 238328) / 62³.
    right = (-291762.75 + 1238992.5 - 1683672 + 714984) / 238328
    found = RESIZES["bicubic_offset"](2, 3)
    np.testing.assert_allclose(found[0], [1 - right, right], atol=1e-12)
    # The second lies at 1.5 * 2 / 3.1 - 0.5 = 0.467742: taps -1 and 0 fall on cell 0, 1 and 2 on 1.
    near, far = 0.532258064516129, 1.532258064516129
    right = 1.25 * near**3 - 2.25 * near**2 + 1
    right += -0.75 * far**3 + 3.75 * far**2 - 6 * far + 3
    np.testing.assert_allclose(found[1], [1 - right, right], atol=1e-12)
    assert np.abs(found - RESIZES["bicubic"](2, 3)).max() > 0.01


def cubic(t, a):
    t = abs(t)
    if t <= 1:
        return ((a + 2) * t - (a + 3)) * t * t + 1
    return a * (((t - 5) * t + 8) * t - 4) if t < 2 else 0.0


def triangle(t):
    return max(0.0, 1 - abs(t))


def sampled(values, new_size, resize):
    """Resizes a list, one output and one tap at a time."""
    size, result = len(values), []
    if resize == "nearest":
        return [values[math.floor(index * size / new_size)] for index in range(new_size)]
    for index in range(new_size):
        place = (index + 0.5) * size / new_size - 0.5
        if resize == "jax":
            place = index * (size - 1) / (new_size - 1) if new_size > 1 else 0.0
        if resize == "bicubic_offset":
            place = (index + 0.5) / ((new_size + 0.1) / size) - 0.5
        antialias = resize.endswith("antialias")
        spread = max(1.0, size / new_size) if antialias else 1.0
        total = weights = 0.0
        for tap in range(math.floor(place) - 40, math.floor(place) + 41):
            t = (tap - place) / spread
            if "bicubic" in resize:
                weight = cubic(t, -0.5 if antialias else -0.75)
            else:
                weight = triangle(t)
            if antialias and not 0 <= tap < size:
                continue
            total += weight * values[min(max(tap, 0), size - 1)]
            weights += weight
        result.append(total / weights)
    return result


@pytest.mark.parametrize("resize", RESIZES)
@pytest.mark.parametrize("size, new_size", SIZES)
def test_agrees_with_a_loop_over_taps(size, new_size, resize):
    values = random(size)
    if size == new_size:
        resize_matrix = RESIZES[resize](size, new_size)
        np.testing.assert_allclose(resize_matrix @ values, sampled(values, new_size, resize))
        return
    expected = sampled(values, new_size, resize)
    np.testing.assert_allclose(line(values, new_size, resize), expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("resize", RESIZES)
@pytest.mark.parametrize("grid, new_grid", [((3, 5), (7, 2)), ((4, 1), (1, 6)), ((5, 3), (5, 4))])
def test_a_grid_is_resized_along_its_rows_and_then_along_its_columns(grid, new_grid, resize):
    table = random(1, grid[0] * grid[1], 3)
    pictures = table.reshape(*grid, 3)
    expected = np.empty((*new_grid, 3))
    for channel in range(3):
        across = [sampled(row, new_grid[1], resize) for row in pictures[..., channel]]
        down = [sampled(column, new_grid[0], resize) for column in zip(*across, strict=True)]
        expected[..., channel] = np.transpose(down)
    found = resize_grid(table, grid, new_grid, resize)
    assert found.shape == (1, new_grid[0] * new_grid[1], 3)
    np.testing.assert_allclose(found.reshape(*new_grid, 3), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("grid, new_grid", [((3, 5), (7, 2)), ((6, 4), (3, 9)), ((2, 3), (1, 5))])
def test_jaxs_way_is_scipys(grid, new_grid):
    table = random(1, grid[0] * grid[1], 2)
    zoom = (new_grid[0] / grid[0], new_grid[1] / grid[1], 1)
    expected = scipy.ndimage.zoom(table.reshape(*grid, 2), zoom, order=1)
    found = resize_grid(table, grid, new_grid, "jax").reshape(*new_grid, 2)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("resize", RESIZES)
def test_a_grid_of_the_same_size_stays_bit_for_bit(resize):
    table = random(1, 15, 4).astype("float32")
    np.testing.assert_array_equal(resize_grid(table, (3, 5), (3, 5), resize), table)
    kernel = random(3, 5, 2, 7).astype("float32")
    np.testing.assert_array_equal(resize_patches(kernel, (3, 5), resize), kernel)
    if resize != "bicubic_offset":
        np.testing.assert_allclose(RESIZES[resize](7, 7), np.eye(7), atol=1e-15)


@pytest.mark.parametrize("resize", RESIZES)
@pytest.mark.parametrize("size, new_size", SIZES)
def test_a_constant_stays_one(size, new_size, resize):
    np.testing.assert_allclose(RESIZES[resize](size, new_size).sum(axis=1), 1, rtol=1e-13)


def test_one_cell_is_repeated_and_linear_ways_to_one_cell_are_known():
    for resize in RESIZES:
        np.testing.assert_allclose(line([3.0], 4, resize), [3, 3, 3, 3], rtol=1e-14)
    assert line(SOURCE, 1, "jax") == [1]
    assert line(SOURCE, 1, "bilinear") == [3]


def test_dtype_is_kept_and_the_sum_is_float64():
    table = random(1, 12, 5)
    exact = resize_grid(table.astype("float32").astype("float64"), (3, 4), (5, 7))
    rounded = resize_grid(table.astype("float32"), (3, 4), (5, 7))
    assert exact.dtype == "float64" and rounded.dtype == "float32"
    np.testing.assert_array_equal(rounded, exact.astype("float32"))


def test_an_unknown_way_is_refused():
    message = r"`resize` must be one of \['jax', .*'nearest'\]. Received: 'area'."
    for call in (
        lambda: resize_named("area"),
        lambda: resize_grid(random(1, 4, 1), (2, 2), (3, 3), "area"),
        lambda: resize_grid(random(1, 4, 1), (2, 2), (2, 2), "area"),
        lambda: resize_patches(random(2, 2, 1, 1), (3, 3), "area"),
        lambda: resize_patches(random(2, 2, 1, 1), (2, 2), "area"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("new_grid", [(3, 3), (2, 2)])
def test_a_table_of_another_number_of_positions_is_refused(new_grid):
    with pytest.raises(ValueError, match="A grid of 2 x 2 has 4 positions. Received: 5."):
        resize_grid(random(1, 5, 1), (2, 2), new_grid)


@pytest.mark.parametrize("resize", RESIZES)
@pytest.mark.parametrize(
    "size, new_size", list(itertools.product([(3, 2), (4, 7)], [(4, 7), (5, 8), (11, 13)]))
)
def test_a_grown_kernel_gives_on_grown_patches_what_it_gave(size, new_size, resize):
    kernel, patches = random(*size, 3, 5), random(6, *size, 3)
    grown = resize_patches(kernel, new_size, resize)
    assert grown.shape == (*new_size, 3, 5)
    grown_patches = np.moveaxis(
        resize_grid(
            np.moveaxis(patches, 0, 2).reshape(1, size[0] * size[1], -1), size, new_size, resize
        ).reshape(*new_size, 6, 3),
        2,
        0,
    )
    expected = np.einsum("npqc,pqco->no", patches, kernel)
    found = np.einsum("npqc,pqco->no", grown_patches, grown)
    if size == new_size:
        np.testing.assert_array_equal(grown, kernel)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("resize", RESIZES)
def test_a_shrunk_kernel_is_the_best_there_is(resize):
    """Least squares over all patches, solved for the whole patch at once."""
    kernel, size, new_size = random(5, 4, 2, 3), (5, 4), (3, 2)
    both = np.kron(RESIZES[resize](5, 3), RESIZES[resize](4, 2))  # (new pixels, old pixels)
    expected = np.linalg.lstsq(both.T, kernel.reshape(20, -1), rcond=None)[0]
    found = resize_patches(kernel, new_size, resize)
    assert kernel.shape[:2] == size
    np.testing.assert_allclose(found.reshape(6, -1), expected, rtol=1e-9, atol=1e-12)


def timm_cases():
    with np.load(FIXTURE) as stored:
        return [name for name in stored if name.startswith("resized")]


@pytest.mark.parametrize("name", timm_cases())
def test_patch_kernels_are_timms(name):
    stored = np.load(FIXTURE)
    size, new = name.removeprefix("resized_").split("_to_")
    kernel = stored[f"kernel_{size}"].transpose(2, 3, 1, 0)
    new_size = tuple(int(side) for side in new.split("x"))
    found = resize_patches(kernel, new_size, "bicubic_antialias").transpose(3, 2, 0, 1)
    difference = np.abs(found - stored[name]).max() / np.abs(stored[name]).max()
    assert difference < 1e-6


def test_geometric_steps_reach_as_far_as_the_new_offsets():
    # Offsets of 4 tokens in a row, for 7: steps of 1, q and q squared are 6 at q = 1.79128785, of
    # which 1.5 is the most. So 0, 1, 2.5, 4.75 and beyond them the last.
    table = np.array([0.0, 10, 20, 30, 40, 50, 60])
    places = [-4.75, -2.5, -1, 0, 1, 2.5, 4.75]
    expected = np.interp(np.arange(-6, 7), places, table)
    np.testing.assert_allclose(geometric(7, 13) @ table, expected, atol=1e-4)
    np.testing.assert_array_equal((geometric(7, 13) @ table)[[0, 6, 12]], [0, 30, 60])


def test_geometric_steps_hardly_move_what_keeps_its_size():
    matrix = geometric(7, 7)
    np.testing.assert_allclose(matrix.sum(axis=1), np.ones(7))
    assert 0 < np.abs(matrix - np.eye(7)).max() < 0.03
    np.testing.assert_array_equal(geometric(1, 3), np.ones((3, 1)))


@pytest.mark.parametrize("resize", OFFSET_RESIZES)
def test_a_table_of_offsets_is_resized_along_both_axes(resize):
    table = random(3 * 5, 2).astype("float32")
    new = resize_offsets(table, (2, 3), (3, 2), resize)
    rows, columns = OFFSET_RESIZES[resize](3, 5), OFFSET_RESIZES[resize](5, 3)
    pictures = table.reshape(3, 5, 2).astype("float64")
    expected = np.einsum("ih,jw,hwk->ijk", rows, columns, pictures).reshape(15, 2)
    assert new.dtype == "float32"
    np.testing.assert_allclose(new, expected, rtol=1e-6, atol=1e-7)
    assert resize_offsets(table, (2, 3), (2, 3), resize) is table


def test_positions_know_no_geometric_steps():
    with pytest.raises(ValueError, match="Received: 'geometric'"):
        resize_grid(random(1, 15, 2), (3, 5), (5, 3), "geometric")
