"""What workers make of their rows, put together, against the whole batches."""

import itertools
import shutil

import numpy as np
import pytest

from keras_vit.data import evaluation_batches, open_data, training_batches
from keras_vit.data.augment import AnyLabel, MixOrCut, MixUp
from keras_vit.data.order import example
from keras_vit.data.rows import rows_before
from keras_vit.layers import Preprocessing
from tests.data.pictures import write_folder

VALUE = Preprocessing(image_size=8, mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.4))
SHARES = (range(0, 3), range(3, 7))


class Backwards:
    """A part that says nothing of whom it mixes."""

    stage = "labelled"

    def __call__(self, images, labels, keys):
        return images + images[::-1], labels[::-1]


AUGMENTS = {
    "one by one": ("shift", "random_erasing", MixUp()),
    "at once": (MixOrCut(per="example"), MixUp(per="example"), AnyLabel()),
    "with all": (Backwards(),),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("images"), {"cat": 6, "dog": 7}, size=(12, 10))


def batches(records, augment, **options):
    options = {"augment": augment, "label_smoothing": 0.1, **options}
    data = training_batches(records, VALUE, 7, 3, start_step=1, **options)
    return [tuple(map(np.asarray, batch)) for batch in itertools.islice(data, 2)]


@pytest.mark.parametrize("augment", AUGMENTS.values(), ids=AUGMENTS)
def test_the_shares_are_those_of_the_whole_batches(folder, augment):
    records = open_data(folder)
    whole = batches(records, augment)
    shares = [batches(records, augment, rows=rows) for rows in SHARES]
    for expected, *found in zip(whole, *shares, strict=True):
        for values, *parts in zip(expected, *found, strict=True):
            np.testing.assert_array_equal(np.concatenate(parts), values)


def test_only_the_needed_rows_are_read(folder, tmp_path):
    """Rows 0 and 1, and 6, which row 0 is mixed with."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    records = open_data(copy)
    index = example(np.arange(7), seed=3, n=len(records))[0].numpy()
    for place in (2, 3, 4, 5):
        (copy / records.name(index[place])).unlink()
    options = {"seed": 3, "augment": (MixUp(),), "cache_bytes": 0}
    some, _ = next(iter(training_batches(records, VALUE, 7, rows=range(2), **options)))
    every, _ = next(iter(training_batches(open_data(folder), VALUE, 7, **options)))
    np.testing.assert_array_equal(some, every[:2])


def enumerated(*parts):
    return list(enumerate(parts))


def test_the_rows_before_parts():
    chain = rows_before(range(2, 4), enumerated(MixOrCut(), MixUp(), AnyLabel()), 8)
    assert [rows.tolist() for rows in chain] == [[1, 2, 3, 4, 5, 6], [1, 2, 3], [2, 3], [2, 3]]
    assert [len(rows) for rows in rows_before([3], enumerated(Backwards(), AnyLabel()), 8)] == [
        8,
        1,
        1,
    ]


@pytest.mark.parametrize("cache_bytes, batch_size", [(0, 5), (2**20, 11)])
def test_shares_of_an_evaluation(folder, cache_bytes, batch_size):
    """The last batch is of 3 or 2 images: some shares of it are empty."""
    records = open_data(folder)
    every = evaluation_batches(records, VALUE, batch_size)
    cuts = (0, 2, 4, batch_size)
    shares = [
        evaluation_batches(records, VALUE, batch_size, cache_bytes, range(*cut))
        for cut in itertools.pairwise(cuts)
    ]
    count = 0
    for expected, *found in zip(every, *shares, strict=True):
        count += 1
        for values, *parts in zip(expected, *found, strict=True):
            np.testing.assert_array_equal(np.concatenate(parts), values)
    assert count == -(-13 // batch_size)


@pytest.mark.parametrize("rows", [range(0), range(6, 8), [2, 1], [-1]])
def test_what_are_no_rows(folder, rows):
    for function, options in ((training_batches, {"seed": 3}), (evaluation_batches, {})):
        with pytest.raises(ValueError, match="`rows` must be increasing places in a batch of 7"):
            function(open_data(folder), VALUE, 7, rows=rows, **options)
