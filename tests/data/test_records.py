import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import Captions, Classes, Records, Tags, Unlabelled


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
    targets = Classes("abcdefg"[: len(sizes)], labels)
    return Records(Numbers(), targets, 100 + np.arange(len(labels)))


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
        some.targets = None
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


def test_a_part_is_a_share_of_every_class():
    some = records([50, 7, 101, 1])
    part = some.part(0.1, seed=3)
    assert part.class_sizes.tolist() == [5, 1, 10, 1]
    assert part.positions.tolist() == sorted(part.positions)
    larger = some.part(0.3, seed=3)
    assert set(part.positions) < set(larger.positions)
    assert part.positions.tolist() != some.part(0.1, seed=4).positions.tolist()
    assert some.part(1.0, seed=3).positions.tolist() == some.positions.tolist()
    for fraction in (0, 1.1):
        with pytest.raises(ValueError, match=r"`fraction` must be in \(0, 1\]. Received"):
            some.part(fraction, 0)


def test_a_part_of_several_classes_has_the_rare_ones():
    labels = np.zeros((100, 3), "uint8")
    labels[:, 0] = 1
    labels[[7, 93], 1] = 1  # class 1 is on two images, class 2 on none
    some = Records(Numbers(), Tags("abc", labels), np.arange(100))
    part = some.part(0.1, seed=0)
    assert len(part) == 11 and part.class_sizes.tolist() == [11, 1, 0]
    rest, held_out = some.split(0.5, seed=0)
    assert rest.class_sizes[1] == held_out.class_sizes[1] == 1


def test_images_without_classes_are_split_and_have_no_labels():
    some = Records(Numbers(), Unlabelled(10), np.arange(10))
    rest, held_out = some.split(0.2, seed=0)
    assert (len(rest), len(held_out), len(some.part(0.3, seed=0))) == (8, 2, 3)
    with pytest.raises(ValueError, match="have no labels, only Unlabelled: number 0"):
        _ = some.labels


def test_lengths_are_checked():
    with pytest.raises(ValueError, match="Received: 1 targets, 2 positions"):
        Records(Numbers(), Classes("ab", [0]), [0, 1])


def test_fingerprint_changes_with_names_labels_and_images():
    base = records([3, 4])
    prints = {
        base.fingerprint(),
        dataclasses.replace(base, targets=Classes("ax", base.labels)).fingerprint(),
        dataclasses.replace(base, targets=Classes("ab", [0] * 7)).fingerprint(),
        dataclasses.replace(base, targets=Unlabelled(7)).fingerprint(),
        dataclasses.replace(base, targets=Captions("abcdefg")).fingerprint(),
        dataclasses.replace(base, targets=Tags("ab", np.eye(2)[base.labels])).fingerprint(),
        base.select(range(6)).fingerprint(),
        base.select([1, 0, 2, 3, 4, 5, 6]).fingerprint(),
    }
    assert len(prints) == 8
    assert records([3, 4]).fingerprint() == base.fingerprint()
