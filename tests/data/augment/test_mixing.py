import numpy as np
import pytest

from keras_vit.data.augment.mixing import check, drawn_by, mixed
from tests.data.augment.scene import KEYS


def test_a_share_of_each():
    assert mixed(8.0, 4.0, 0.25) == 5.0


def test_keys():
    np.testing.assert_array_equal(drawn_by(KEYS, "batch"), KEYS[:1])
    assert drawn_by(KEYS, "example") is KEYS


def test_what_no_mixing_can_be():
    with pytest.raises(ValueError, match="`per` must be one of .*Received: 'pair'"):
        check("pair")
    with pytest.raises(ValueError, match="`alpha` must be between 0 and 1. Received: 2"):
        check("batch", alpha=2)
