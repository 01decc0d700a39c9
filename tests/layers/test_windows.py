import numpy as np
import pytest
from keras import ops

from keras_vit.layers.windows import (
    fitted_window,
    merge,
    padding,
    partition,
    relative_index,
    shift_mask,
)
from tests.layers.arrays import arrays


def test_windows_and_their_tokens_come_row_by_row():
    (x,) = arrays((2, 6, 15, 3))
    windows = ops.convert_to_numpy(partition(x, (2, 5)))
    assert windows.shape == (2 * 9, 10, 3)
    for example, row, column in ((0, 0, 0), (1, 0, 2), (1, 2, 1)):
        cut = x[example, 2 * row : 2 * row + 2, 5 * column : 5 * column + 5]
        found = windows[9 * example + 3 * row + column]
        np.testing.assert_array_equal(found, cut.reshape(10, 3))


def test_merge_is_the_reverse_of_partition():
    (x,) = arrays((2, 6, 15, 3))
    np.testing.assert_array_equal(merge(partition(x, (2, 5)), (2, 5), (6, 15)), x)


# Golden vectors of the reference.
INDICES = {
    (2, 2): [[4, 3, 1, 0], [5, 4, 2, 1], [7, 6, 4, 3], [8, 7, 5, 4]],
    (2, 3): [
        [7, 6, 5, 2, 1, 0],
        [8, 7, 6, 3, 2, 1],
        [9, 8, 7, 4, 3, 2],
        [12, 11, 10, 7, 6, 5],
        [13, 12, 11, 8, 7, 6],
        [14, 13, 12, 9, 8, 7],
    ],
}


@pytest.mark.parametrize("grid", INDICES)
def test_relative_index(grid):
    np.testing.assert_array_equal(relative_index(grid), INDICES[grid])


def test_one_entry_for_each_offset():
    index = relative_index((3, 5))
    tokens = [divmod(token, 5) for token in range(15)]
    entries = {}
    for query, (row, column) in enumerate(tokens):
        for key, (other_row, other_column) in enumerate(tokens):
            offset = row - other_row, column - other_column
            assert entries.setdefault(offset, index[query, key]) == index[query, key]
    assert sorted(entries.values()) == list(range(5 * 9))


# (size, window, shift) -> masked pairs of each window; of 56 x 56, in total.
MASKED = {
    ((8, 8), (4, 4), (2, 2)): [0, 128, 128, 192],
    ((14, 14), (7, 7), (3, 3)): [0, 1176, 1176, 1776],
    ((56, 56), (7, 7), (3, 3)): 18_240,
}


@pytest.mark.parametrize("case", MASKED, ids=str)
def test_counts_of_masked_pairs(case):
    mask = shift_mask(*case)
    assert set(np.unique(mask)) == {0.0, -100.0}
    counts = (mask < 0).sum(axis=(1, 2))
    expected = MASKED[case]
    assert counts.sum() == expected if isinstance(expected, int) else counts.tolist() == expected


def test_the_last_of_four_small_windows_sees_only_itself():
    mask = shift_mask((4, 4), (2, 2), (1, 1))
    np.testing.assert_array_equal(mask[3] == 0, np.eye(4, dtype=bool))
    np.testing.assert_array_equal(mask[0], np.zeros((4, 4)))


def test_the_mask_keeps_apart_what_was_apart_before_the_roll():
    """Tokens see one another if they lay as near in the map that was not rolled yet."""
    size, window, shift = (6, 9), (2, 3), (1, 1)
    places = np.stack(np.meshgrid(*map(np.arange, size), indexing="ij"), axis=-1)
    rolled = np.roll(places, (-1, -1), axis=(0, 1))[None].astype("float32")
    places = ops.convert_to_numpy(partition(rolled, window))
    apart = np.abs(places[:, :, None] - places[:, None]) >= np.array(window)
    np.testing.assert_array_equal(shift_mask(size, window, shift) < 0, apart.any(axis=-1))


def test_along_an_axis_that_is_not_shifted_nothing_is_masked():
    mask = shift_mask((4, 6), (4, 2), (0, 1)).reshape(3, 4, 2, 4, 2)
    assert not mask[:2].any()
    # In the last window, the second column came round; rows do not matter.
    np.testing.assert_array_equal(mask[2, 0, :, 3] < 0, [[False, True], [True, False]])


@pytest.mark.parametrize(
    ("size", "shift", "expected"),
    [
        ((14, 21), True, ((7, 7), (3, 3))),
        ((14, 21), False, ((7, 7), (0, 0))),
        ((7, 8), True, ((7, 7), (0, 3))),
        ((5, 3), True, ((5, 3), (0, 0))),
    ],
)
def test_a_window_is_not_larger_than_the_map(size, shift, expected):
    assert fitted_window(size, (7, 7), shift) == expected


def test_padding_makes_whole_windows():
    assert padding((5, 6), (2, 3)) == (1, 0)
    assert padding((4, 7), (2, 5)) == (0, 3)


def test_tokens_before_the_grid_have_an_entry_each_way():
    index = relative_index((2, 3), 2)
    assert index.shape == (8, 8)
    np.testing.assert_array_equal(index[2:, 2:], relative_index((2, 3)))
    assert set(index[:2, 2:].flat) == {15}  # 3 x 5 offsets; from them to the grid
    assert set(index[2:, :2].flat) == {16}
    assert set(index[:2, :2].flat) == {17}
