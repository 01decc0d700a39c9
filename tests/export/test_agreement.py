"""Agreement of logits, and what a bound refuses."""

import numpy as np
import pytest

from keras_vit.export.agreement import Bound, agreement

REFERENCE = np.array([[1.0, 5.0, 0.0], [4.0, 0.0, 3.9]])


def test_equal_logits():
    found = agreement(REFERENCE, REFERENCE)
    assert (found.relative, found.top1, found.images) == (0, 1, 2)
    assert found.cosine == pytest.approx(1)


def test_a_number_added_to_all_logits_leaves_the_cosine():
    assert agreement(REFERENCE, REFERENCE + 100).cosine == pytest.approx(1)


def test_a_tie_may_fall_either_way_and_a_clear_class_may_not():
    swapped = REFERENCE[:, [0, 1, 2]].copy()
    swapped[1] = [3.9, 0, 4.0]  # apart by 2.5 % of the range
    assert agreement(REFERENCE, swapped).top1 == 1
    swapped[0] = [5, 1, 0]
    assert agreement(REFERENCE, swapped).top1 == 0.5


def test_logits_of_a_new_head():
    zeros = np.zeros((2, 3))
    found = agreement(zeros, zeros)
    assert (found.relative, found.cosine, found.top1) == (0, 1, 1)
    assert agreement(zeros, zeros + [0, 1, 0]).cosine == 0


def test_one_class_is_compared_uncentred():
    assert agreement([[2.0]], [[1.0]]).cosine == pytest.approx(1)
    assert agreement([[2.0]], [[-1.0]]).cosine == pytest.approx(-1)


def test_bounds():
    found = agreement(REFERENCE, -REFERENCE)
    assert Bound().broken_by(found) == []
    broken = Bound(relative=1e-4, cosine=0.9, top1=0.9).broken_by(found)
    assert broken == [
        "relative difference 2, at most 0.0001",
        "mean cosine -1.0000, at least 0.9",
        "same top class 0.0%, at least 90%",
    ]
    assert Bound(relative=2, cosine=-1.1, top1=0).broken_by(found) == []
