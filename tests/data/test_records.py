import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import Records


@dataclasses.dataclass(frozen=True)
class Numbers:
    """A source whose bytes are the position."""

    def encoded(self, position):
        return tf.strings.as_string(position)

    def read(self, position):
        return str(position).encode()

    def name(self, position):
        return f"number {position}"


def records(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return Records(Numbers(), tuple("abcdefg"[: len(sizes)]), labels, 100 + np.arange(len(labels)))


def test_reads_by_index_in_a_graph_and_outside():
    some = records([3, 4]).select([5, 0])
    assert len(some) == 2 and some.labels.tolist() == [1, 0]
    assert [some.read(0), some.read(1)] == [b"105", b"100"]
    assert some.name(0) == "number 105"
    read = tf.data.Dataset.range(2).map(some.encoded)
    assert list(read.as_numpy_iterator()) == [b"105", b"100"]


def test_is_frozen():
    some = records([3, 4])
    with pytest.raises(dataclasses.FrozenInstanceError):
        some.labels = None
    with pytest.raises(ValueError, match="read-only"):
        some.labels[0] = 1


@pytest.mark.parametrize("fraction", [0.01, 0.2, 0.5, 0.99])
@pytest.mark.parametrize("sizes", [[2, 1, 3], [50, 7, 101]])
def test_split_keeps_every_class(fraction, sizes):
    rest, held_out = records(sizes).split(fraction, seed=3)
    both = np.concatenate([rest.positions, held_out.positions])
    assert sorted(both) == list(range(100, 100 + sum(sizes)))
    for size, kept, held in zip(sizes, rest.class_sizes, held_out.class_sizes, strict=True):
        assert kept >= 1
        assert held == (0 if size == 1 else min(max(round(fraction * size), 1), size - 1))


def test_split_is_by_seed():
    def held(seed):
        return records([50, 7, 101]).split(0.2, seed)[1].positions.tolist()

    assert held(3) == held(3) != held(4)
    # A fourth class leaves the others' split as it was.
    more = records([50, 7, 101, 9]).split(0.2, 3)[1]
    assert more.select(np.flatnonzero(more.labels < 3)).positions.tolist() == held(3)


def test_split_checks_its_arguments():
    with pytest.raises(ValueError, match=r"`fraction` must be in \(0, 1\). Received: 1"):
        records([3]).split(1, 0)
    with pytest.raises(ValueError, match="`seed`.*Received: -1"):
        records([3]).split(0.5, -1)
    with pytest.raises(ValueError, match="no class has two images"):
        records([1, 1]).split(0.5, 0)


def test_labels_are_checked():
    with pytest.raises(ValueError, match=r"`labels` must be in \[0, 2\).*Received: 0 to 2"):
        Records(Numbers(), ("a", "b"), [0, 2], [0, 1])
    with pytest.raises(ValueError, match="Received: 1 labels, 2 positions"):
        Records(Numbers(), ("a", "b"), [0], [0, 1])


def test_fingerprint_changes_with_names_labels_and_images():
    base = records([3, 4])
    prints = {
        base.fingerprint(),
        dataclasses.replace(base, class_names=("a", "x")).fingerprint(),
        dataclasses.replace(base, labels=[0] * 7).fingerprint(),
        base.select(range(6)).fingerprint(),
        base.select([1, 0, 2, 3, 4, 5, 6]).fingerprint(),
    }
    assert len(prints) == 5
    assert records([3, 4]).fingerprint() == base.fingerprint()
