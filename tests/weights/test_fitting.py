from types import SimpleNamespace

import numpy as np
import pytest

from keras_vit.models import ViTConfig
from keras_vit.weights.fitting import fit_kernel, fit_offsets, fit_positions, fit_prefix, fit_time
from keras_vit.weights.resample import RESIZES, resize_grid, resize_offsets, resize_patches

WIDTH, PATCH = 7, (2, 3)
GRID, NEW_GRID = (3, 5), (4, 2)


def config(grid=GRID, patch_size=PATCH, **fields):
    image_size = (grid[0] * patch_size[0], grid[1] * patch_size[1])
    sizes = {"width": WIDTH, "depth": 1, "num_heads": 1, "mlp_dim": 5}
    return ViTConfig(image_size=image_size, patch_size=patch_size, **{**sizes, **fields})


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


def file(rows, grid=GRID):
    """(position table, what is known of it) of a file."""
    table = random(1, rows + grid[0] * grid[1], WIDTH)
    return table, SimpleNamespace(grid=grid, position_rows=rows)


def sums(table, class_token, registers, rows, checkpoint, model):
    """What our model adds up: (class token, registers, patch positions), and the notes."""
    positions, note = fit_positions(table, model, checkpoint, "bicubic")
    with_row = model.class_token and model.class_position
    own, patches = (positions[:, :1], positions[:, 1:]) if with_row else (0.0, positions)
    token, token_note = fit_prefix(class_token, 0, table, model, rows)
    others, others_note = fit_prefix(registers, 1, table, model, rows)
    return token + own, others, patches, (note, token_note, others_note)


ADDED = "its position added to it"
NO_CLASS_ROW = "the class token's position is zero"


@pytest.mark.parametrize(
    "rows, class_position, notes",
    [
        (1, True, ("", "", "")),
        (1, False, ("", ADDED, "")),
        (0, True, (NO_CLASS_ROW, "", "")),
        (0, False, ("", "", "")),
        (4, True, ("", "", ADDED)),
        (4, False, ("", ADDED, ADDED)),
    ],
)
def test_sums_are_the_files_whoever_has_the_positions(rows, class_position, notes):
    """`rows` of the file's table belong to tokens: none, the class token, or registers too."""
    table, checkpoint = file(rows)
    class_token, registers = random(1, 1, WIDTH), random(1, 3, WIDTH)
    tokens = np.concatenate([class_token, registers], axis=1).astype("float64")
    tokens[:, :rows] += table[:, :rows]
    model = config(class_position=class_position, registers=3)
    token, others, patches, found = sums(table, class_token, registers, rows, checkpoint, model)
    np.testing.assert_array_equal(token, tokens[:, :1].astype(token.dtype))
    np.testing.assert_array_equal(others, tokens[:, 1:].astype(others.dtype))
    np.testing.assert_array_equal(patches, table[:, rows:])
    assert found == notes


@pytest.mark.parametrize("rows", [1, 4])
def test_what_is_computed_is_float64_and_the_rest_is_not_touched(rows):
    table, _ = file(rows)
    token = random(1, 1, WIDTH)
    assert fit_prefix(token, 0, table, config(class_position=False), rows)[0].dtype == "float64"
    assert fit_prefix(token, 0, table, config(), rows)[0] is token


def test_without_a_table_tokens_stay():
    token = random(1, 1, WIDTH)
    fitted, note = fit_prefix(token, 0, None, config(class_position=False), 0)
    assert fitted is token and note == ""


def test_registers_without_a_class_token_take_the_first_rows():
    table, checkpoint = file(2)
    registers, model = random(1, 2, WIDTH), config(class_token=False, registers=2, pooling="gap")
    fitted, note = fit_prefix(registers, 0, table, model, 2)
    np.testing.assert_array_equal(fitted, registers.astype("float64") + table[:, :2])
    assert note == ADDED
    positions, note = fit_positions(table, model, checkpoint, "bicubic")
    np.testing.assert_array_equal(positions, table[:, 2:])
    assert note == ""


def test_places_in_time_are_resized():
    table = random(1, 3, WIDTH)
    fitted, note = fit_time(table, 5, "nearest")
    np.testing.assert_array_equal(fitted, table[:, [0, 0, 1, 1, 2]].astype("float64"))
    assert note == "resized from 3 to 5 frames (nearest)"
    same, note = fit_time(table, 3, "nearest")
    assert same is table and note == ""


@pytest.mark.parametrize("resize", RESIZES)
@pytest.mark.parametrize("rows, class_position", [(0, True), (1, True), (4, True), (4, False)])
def test_only_the_patches_positions_are_resized(rows, class_position, resize):
    table, checkpoint = file(rows)
    model = config(NEW_GRID, class_position=class_position)
    positions, note = fit_positions(table, model, checkpoint, resize)
    patches = resize_grid(table[:, rows:].astype("float64"), GRID, NEW_GRID, resize)
    prefix = table[:, :1] if rows else np.zeros((1, 1, WIDTH))
    expected = np.concatenate([prefix, patches], axis=1) if class_position else patches
    assert positions.dtype == "float64"
    np.testing.assert_array_equal(positions, expected)
    resized = f"resized from 3×5 to 4×2 ({resize})"
    assert note == (resized if rows else f"{resized}; {NO_CLASS_ROW}")


def test_a_kernel_of_the_same_size_only_becomes_a_matrix():
    kernel = random(*PATCH, 3, 11)
    matrix, note = fit_kernel(kernel, config(), "bicubic_antialias")
    np.testing.assert_array_equal(matrix, kernel.reshape(18, 11))
    assert matrix.dtype == "float32" and note == ""


@pytest.mark.parametrize("resize", ["bilinear_antialias", "bicubic_antialias"])
def test_a_kernel_of_another_patch_size_is_resized(resize):
    kernel = random(*PATCH, 3, 11)
    matrix, note = fit_kernel(kernel, config(patch_size=(5, 4)), resize)
    exact = resize_patches(kernel.astype("float64"), (5, 4), resize)
    np.testing.assert_array_equal(matrix, exact.reshape(60, 11))
    assert matrix.dtype == "float64"
    assert note == f"patches resized from 2×3 to 5×4 (pseudo-inverse, {resize})"


def test_offsets_of_the_same_grid_stay():
    table = random(15, 2)
    assert fit_offsets(table, (2, 3), (2, 3), "bicubic") == (table, "")
    # Where the file does not tell, the model's grid is tried before a square.
    assert fit_offsets(table, (7, 7), (2, 3), "bicubic") == (table, "")


@pytest.mark.parametrize(("told", "count"), [((2, 3), 15), ((7, 7), 25)])
def test_offsets_of_another_grid_are_resized(told, count):
    table = random(count, 2)
    grid = (2, 3) if count == 15 else (3, 3)
    new, note = fit_offsets(table, told, (4, 2), "geometric")
    np.testing.assert_array_equal(
        new, resize_offsets(table.astype("float64"), grid, (4, 2), "geometric")
    )
    assert note == f"resized from {grid[0]}×{grid[1]} to 4×2 tokens (geometric)"


def test_offsets_of_an_unknown_grid():
    with pytest.raises(ValueError, match="nothing tells the grid"):
        fit_offsets(random(33, 2), (2, 3), (4, 2), "bicubic")
