"""Reading archives whole, and damaging them on purpose."""

import numpy as np
import pytest

from keras_vit.weights.archives import open_archive


def read_all(path):
    archive = open_archive(path)
    arrays = {name: archive.read(name) for name in archive.shapes}
    assert archive.shapes == {name: array.shape for name, array in arrays.items()}
    return arrays


def assert_same(found, expected):
    """The same names, number formats, shapes and values."""
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        np.testing.assert_array_equal(found[name], array, err_msg=name, strict=True)


def assert_refused(path, match=None, named=None):
    """Reading ends in one sentence that names the file; returns the sentence."""
    with pytest.raises((ValueError, FileNotFoundError), match=match) as caught:
        read_all(path)
    text = str(caught.value)
    assert str(named or path) in text
    assert "\n" not in text and text.endswith("."), text
    # No subclass, such as a UnicodeDecodeError from the depths.
    assert type(caught.value) in (ValueError, FileNotFoundError)
    return text


def cut_short(path):
    """Leaves 0, 1, 2, ... bytes of a file; yields how many."""
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        yield length
    path.write_bytes(whole)


def with_a_byte_flipped(path):
    """Damages one byte after the other, one bit of it and all of them; yields its place."""
    whole = path.read_bytes()
    for place in range(len(whole)):
        for mask in (1 << place % 8, 0xFF):
            damaged = bytearray(whole)
            damaged[place] ^= mask
            path.write_bytes(damaged)
            yield place
    path.write_bytes(whole)


def assert_no_flip_alters(path):
    """Whichever byte is damaged: the arrays are refused, or as they were. Counts the refused."""
    expected, refused = read_all(path), 0
    for place in with_a_byte_flipped(path):
        try:
            found = read_all(path)
        except ValueError as error:
            assert str(path) in str(error), place
            refused += 1
        else:
            assert_same(found, expected)
    return refused
