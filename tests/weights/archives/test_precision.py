import ml_dtypes
import numpy as np
import pytest

from keras_vit.weights.archives.precision import widened

# 1.0, -2.5 and the smallest normal number, with the bits that bfloat16 has for them.
VALUES = np.array([1.0, -2.5, 2.0**-126], "float32")
BITS = np.array([0x3F80, 0xC020, 0x0080], "<u2")


def test_bfloat16_raw_and_as_such():
    for array in (BITS.view("V2"), BITS.view(ml_dtypes.bfloat16)):
        found = widened(array, "x")
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, VALUES)


@pytest.mark.parametrize(
    "stored, wide",
    [
        ("<f2", "<f4"),
        (">f2", "<f4"),
        ("<f4", "<f4"),
        (">f4", "<f4"),
        ("<f8", "<f8"),
        (">f8", "<f8"),
        (">i4", "<i4"),
        ("u1", "u1"),
        ("?", "?"),
    ],
)
def test_widths_and_byte_orders(stored, wide):
    values = np.array([[0, 1], [3, 113]]).astype(stored)
    found = widened(values, "x")
    assert found.dtype == np.dtype(wide) and found.dtype.isnative
    np.testing.assert_array_equal(found, np.array([[0, 1], [3, 113]]).astype(wide))


def test_no_copy_where_nothing_changes():
    array = np.zeros(3, "float32")
    assert widened(array, "x") is array


@pytest.mark.parametrize("dtype", ["c8", "U3", "V3", "O", [("a", "u1"), ("b", "u1")], "M8[s]"])
def test_no_numbers(dtype):
    with pytest.raises(ValueError, match=r"w\.npz: 'x' holds no real numbers: its type is"):
        widened(np.zeros(2, dtype), "w.npz: 'x'")
