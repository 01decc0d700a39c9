import pytest

from keras_vit.training.tpu.fit_batch import largest_batch, line, predicted_batch


def test_the_line_through_two_points():
    assert line((16, 170), (64, 650)) == (10.0, 10.0)


@pytest.mark.parametrize(
    ("capacity", "batch"), [(1000, 96), (970, 96), (969, 88), (100, 8), (10, 8)]
)
def test_the_batch_that_the_line_leaves_room_for(capacity, batch):
    assert predicted_batch([(16, 170), (64, 650)], capacity, step=8) == batch


def test_memory_that_does_not_grow_is_refused():
    with pytest.raises(ValueError, match="Memory must grow with the batch"):
        predicted_batch([(16, 170), (64, 170)], 1000, step=8)


class Compiler:
    """Needs `memory(batch)` bytes, and refuses what needs more than 1000."""

    def __init__(self, memory):
        self.memory, self.calls = memory, []

    def __call__(self, batch):
        self.calls.append(batch)
        return self.memory(batch) <= 1000, self.memory(batch)


def test_four_compiles_where_memory_is_straight():
    compiler = Compiler(lambda batch: 10 + 10 * batch)
    assert largest_batch(compiler, 1000, (16, 64)) == (96, 104)
    assert compiler.calls == [16, 64, 96, 104]


def test_no_batch_is_compiled_twice():
    compiler = Compiler(lambda batch: 10 + 10 * batch)
    assert largest_batch(compiler, 1000, (88, 96)) == (96, 104)
    assert compiler.calls == [88, 96, 104]


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        # The compiler saves memory near the end: 96 by the line, and 136 fits.
        (lambda batch: min(10 + 10 * batch, 500 + 3 * batch), (152, 168)),
        # Padding costs: 96 by the line, and 72 fits.
        (lambda batch: 10 + 10 * batch + (300 if batch > 72 else 0), (72, 80)),
        # Not even one step fits.
        (lambda batch: 2000 + batch, (0, 8)),
    ],
)
def test_what_compiled_stands_beside_what_did_not(memory, expected):
    compiler = Compiler(memory)
    fits, does_not = largest_batch(compiler, 1000, (16, 64))
    assert (fits, does_not) == expected
    assert not fits or memory(fits) <= 1000
    assert memory(does_not) > 1000
