import io
import zipfile

import ml_dtypes
import numpy as np
import pytest

from keras_vit.weights.archives import open_archive
from tests.weights.archives.reading import (
    assert_no_flip_alters,
    assert_refused,
    assert_same,
    cut_short,
    read_all,
)

SMALL = {
    "Transformer/encoderblock_0/kernel": np.arange(6, dtype="float32").reshape(2, 3),
    "step": np.array(7),
}
WRITERS = (np.savez, np.savez_compressed)


def noise(*shape):
    return np.random.default_rng(3).normal(size=shape)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "w.npz"


def npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def write_members(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)


@pytest.mark.parametrize("writer", WRITERS)
def test_what_numpy_wrote(path, writer):
    arrays = {
        "params/head/kernel": noise(7, 11).astype("float32"),
        "fortran": np.asfortranarray(noise(3, 5)).astype("float32"),
        "double": noise(2, 3, 5),
        "scalar": np.float32(2.5),
        "empty": np.zeros((0, 7), "float32"),
        "integers": np.arange(-3, 4),
        "flags": np.array([True, False]),
    }
    writer(path, **arrays)
    assert_same(read_all(path), {name: np.asarray(array) for name, array in arrays.items()})


def test_half_precision_and_foreign_byte_order(path):
    values = noise(5, 7)
    np.savez(
        path, half=values.astype("float16"), big=values.astype(">f4"), big8=values.astype(">f8")
    )
    expected = {
        "half": values.astype("float16").astype("float32"),
        "big": values.astype("float32"),
        "big8": values,
    }
    assert_same(read_all(path), expected)


def test_bfloat16_is_a_raw_view(path):
    values = noise(5, 7).astype(ml_dtypes.bfloat16)
    np.savez(path, a=values, scalar=values[0, 0], turned=values.T)
    with np.load(path) as stored:
        assert stored["a"].dtype == np.dtype("V2")
    wide = values.astype("float32")
    assert_same(read_all(path), {"a": wide, "scalar": wide[0, 0, ...], "turned": wide.T})


def test_opening_reads_no_array_and_none_is_kept(path):
    large = noise(101, 103)
    np.savez(path, large=large, step=7)
    whole = path.read_bytes()
    data = large.tobytes()
    path.write_bytes(whole.replace(data[-99:], bytes(99)))
    archive = open_archive(path)
    assert archive.shapes == {"large": (101, 103), "step": ()}
    with pytest.raises(ValueError, match=r"w\.npz: the array 'large.npy' is damaged: Bad CRC-32"):
        archive.read("large")
    assert archive.read("step") == 7
    path.write_bytes(whole)
    first, second = (archive.read("large") for _ in range(2))
    assert first is not second
    np.testing.assert_array_equal(first, large)


@pytest.mark.parametrize("writer", WRITERS)
def test_cut_short_anywhere(path, writer):
    writer(path, **SMALL)
    for length in cut_short(path):
        assert_refused(path, "is empty" if length == 0 else "is not a whole .npz of arrays")


@pytest.mark.parametrize("writer", WRITERS)
def test_no_flipped_byte_gives_other_arrays(path, writer):
    writer(path, **SMALL)
    with zipfile.ZipFile(path) as archive:
        stored = sum(info.compress_size for info in archive.infolist())
    # Each byte is damaged twice. Dates, permissions and the like may be.
    assert assert_no_flip_alters(path) > 2 * stored


def test_bytes_after_the_array_and_missing_ones(path):
    array = npy(np.arange(5.0))
    for content in (array + b"12345678", array[:-8], array[:5], b""):
        write_members(path, [("x.npy", content)])
        assert_refused(path)


def test_a_header_that_asks_for_any_amount_of_memory(path):
    header = npy(np.arange(5.0)).replace(b"(5,), }" + b" " * 12, b"(5000000000000,), }")
    write_members(path, [("x.npy", header)])
    assert_refused(path, r"'x.npy' has 40 bytes for an array float64 of shape \(5000000000000,\)")


def test_a_header_of_another_version(path):
    array = npy(np.zeros(2, [("é", "f4")]), version=(3, 0))
    write_members(path, [("x.npy", array)])
    assert_refused(path, r"'x.npy' has a header of version \(3, 0\)")


def test_pickled_objects(path):
    np.savez(path, good=np.arange(3), bad=np.array([{}, []], dtype=object))
    assert_refused(path, "'bad.npy' holds pickled objects, which may run code")


@pytest.mark.parametrize("name", ["../x.npy", "/x.npy", "a/../../x.npy", ".."])
def test_names_that_lead_out(path, name):
    write_members(path, [(name, npy(np.arange(3)))])
    assert_refused(path, "leads out of the archive" if name != ".." else "which is no array")


def test_other_things_in_the_archive(path):
    write_members(path, [("x.npy", npy(np.arange(3))), ("readme.txt", b"text")])
    assert_refused(path, "it holds 'readme.txt', which is no array")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice(path):
    write_members(path, [("x.npy", npy(np.arange(3))), ("x.npy", npy(np.arange(5)))])
    assert_refused(path, "it holds 'x' twice")


@pytest.mark.parametrize(
    "array", [np.zeros(2, "complex64"), np.array(["text"]), np.zeros(2, [("a", "u1"), ("b", "u1")])]
)
def test_arrays_without_real_numbers(path, array):
    np.savez(path, x=array)
    assert_refused(path, "'x.npy' holds no real numbers: its type is")


def test_no_arrays(path):
    np.savez(path)
    assert_refused(path, "holds no arrays")
