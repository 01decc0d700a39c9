import numpy as np
import pytest

from keras_vit.data.augment.ops import grey
from tests.data.augment.ops.pillow import PICTURES, array_of, image_of


@pytest.mark.parametrize("name", PICTURES)
def test_it_is_pillows_mode_l(name):
    expected = array_of(image_of(PICTURES[name]).convert("L"))
    np.testing.assert_array_equal(grey(PICTURES[name]), expected)
