import json
import shutil
import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from keras_vit.weights.archives import open_archive
from tests.weights.archives.reading import (
    assert_refused,
    assert_same,
    cut_short,
    read_all,
    with_a_byte_flipped,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "weights"
SMALL = {"a": np.arange(6, dtype="float32").reshape(2, 3), "b": np.arange(5)}
INDEX = "model.safetensors.index.json"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "w.safetensors"


def write(path, header, content=b"", size=None):
    """A file with any header, and `size` zeros after what is given."""
    header = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + content)
    if size is not None:
        with open(path, "ab") as file:
            file.truncate(path.stat().st_size + size)


def test_each_number_format(path):
    values = np.random.default_rng(3).normal(size=(5, 7))
    stored = {
        "single": values.astype("float32"),
        "half": values.astype("float16"),
        "bfloat16": values.astype(ml_dtypes.bfloat16),
        "double": values,
        "scalar": np.array(2.5, "float32"),
        "empty": np.zeros((0, 7), "float32"),
        "integers": np.arange(-3, 4),
        "flags": np.array([True, False]),
    }
    save_file(stored, path)
    expected = {
        **stored,
        "half": stored["half"].astype("float32"),
        "bfloat16": stored["bfloat16"].astype("float32"),
    }
    assert_same(read_all(path), expected)


def test_opening_reads_no_array_and_none_is_kept(path):
    # 64 GB of zeros, which the disk does not store: reading them would be noticed.
    size = 1 << 36
    header = {
        "small": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]},
        "large": {"dtype": "U8", "shape": [size], "data_offsets": [4, 4 + size]},
    }
    write(path, header, b"\5\0\0\0", size)
    archive = open_archive(path)
    assert archive.shapes == {"small": (1,), "large": (size,)}
    assert archive.read("small") == [5]
    assert archive.read("small") is not archive.read("small")


def test_metadata_are_the_files_own_and_those_beside_it(path):
    save_file(SMALL, path, {"format": "pt", "model_type": "file"})
    assert open_archive(path).metadata == {"format": "pt", "model_type": "file"}
    beside = path.with_name("config.json")
    beside.write_text(json.dumps({"model_type": "vit", "image_size": 20}))
    path.with_name("preprocessor_config.json").write_text('{"resample": 3}')
    assert open_archive(path).metadata == {
        "format": "pt",
        "model_type": "vit",
        "image_size": 20,
        "preprocessor": {"resample": 3},
    }
    beside.unlink()
    assert open_archive(path).metadata["preprocessor"] == {"resample": 3}


@pytest.mark.parametrize("name", ["config.json", "preprocessor_config.json"])
@pytest.mark.parametrize(
    "content, match",
    [
        (b"no JSON", "is not JSON"),
        (b"", "is not JSON"),
        (b'{"a": 1', "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "holds a list instead of an object"),
    ],
)
def test_broken_json_beside_the_file(path, name, content, match):
    save_file(SMALL, path)
    path.with_name(name).write_bytes(content)
    assert_refused(path, match, named=path.with_name(name))


def test_cut_short_anywhere(path):
    save_file(SMALL, path)
    for length in cut_short(path):
        assert_refused(path, "is empty" if length == 0 else "is not a whole safetensors file")


def test_flipped_bytes(path):
    """The format has no checksums: what must never happen is another kind of error."""
    save_file(SMALL, path)
    end_of_header = 8 + struct.unpack("<Q", path.read_bytes()[:8])[0]
    refused = set()
    for place in with_a_byte_flipped(path):
        try:
            found = read_all(path)
        except ValueError as error:
            assert str(path) in str(error)
            refused.add(place)
        else:
            # A changed letter of a name gives another name; shapes cannot change.
            assert sorted(a.shape for a in found.values()) == [(2, 3), (5,)]
    assert refused >= set(range(9)) and max(refused) < end_of_header
    text = path.read_bytes()[:end_of_header].decode("latin-1")
    for piece in ('{"', '"dtype":"', '"data_offsets":[', '"shape":[2,3]', "}}"):
        assert text.index(piece) in refused, piece


@pytest.mark.parametrize(
    "header, match",
    [
        ({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, "not a whole"),
        ({"x": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, "not a whole"),
        ({"x": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, "not a whole"),
        ({"x": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}, "not a whole"),
        ({"x": {"dtype": "F32", "shape": [1 << 62, 8], "data_offsets": [0, 4]}}, "not a whole"),
        ({"x": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}, "'x' cannot be read"),
        ({}, "not a whole"),
    ],
)
def test_headers_that_make_no_sense(path, header, match):
    write(path, header, b"1234")
    assert_refused(path, match)


def test_no_arrays(path):
    write(path, {})
    assert_refused(path, "holds no arrays")


def test_complex_numbers(path):
    save_file({"x": np.zeros(2, "complex64")}, path)
    assert_refused(path, "'x' holds no real numbers: its type is complex64")


def test_a_file_that_goes_away_after_it_was_opened(path):
    save_file(SMALL, path)
    archive = open_archive(path)
    path.unlink()
    with pytest.raises(ValueError, match=r"w\.safetensors: 'a' cannot be read"):
        archive.read("a")


@pytest.fixture
def shards(tmp_path):
    """A folder of two shards."""
    save_file({"a": SMALL["a"]}, tmp_path / "one.safetensors")
    save_file({"b": SMALL["b"]}, tmp_path / "two.safetensors")
    write_index(tmp_path, {"a": "one.safetensors", "b": "two.safetensors"})
    return tmp_path


def write_index(folder, weight_map):
    index = {"metadata": {"total_size": 64}, "weight_map": weight_map}
    (folder / INDEX).write_text(json.dumps(index))


def test_shards(shards):
    assert_same(read_all(shards), SMALL)
    (shards / "config.json").write_text('{"model_type": "vit"}')
    assert open_archive(shards / INDEX).metadata == {"model_type": "vit"}


def test_shards_that_transformers_wrote():
    folder = FIXTURES / "hf_vit_shards"
    written = {}
    for number in (1, 2, 3):
        written |= read_all(folder / f"model-0000{number}-of-00003.safetensors")
    assert len(written) > 30
    assert_same(read_all(folder), written)


def test_arrays_that_the_index_does_not_list_are_left_out(shards):
    write_index(shards, {"a": "one.safetensors"})
    assert_same(read_all(shards), {"a": SMALL["a"]})


@pytest.mark.parametrize(
    "content", ["no JSON", "[]", "{}", '{"weight_map": []}', '{"weight_map": {"a": 3}}', '{"a": 1']
)
def test_a_broken_index(shards, content):
    (shards / INDEX).write_text(content)
    assert_refused(shards / INDEX)


def test_an_index_of_nothing(shards):
    write_index(shards, {})
    assert_refused(shards / INDEX, "holds no arrays")


@pytest.mark.parametrize("name", ["../x.safetensors", "/tmp/x.safetensors", "a/x.safetensors"])
def test_shards_that_lead_out(shards, name):
    save_file({"a": SMALL["a"]}, shards.parent / "x.safetensors")
    write_index(shards, {"a": name})
    text = assert_refused(shards / INDEX, "leads out of the folder")
    assert repr(name) in text


@pytest.mark.parametrize("name", ["three.safetensors", "..", ".", ""])
def test_a_missing_shard(shards, name):
    write_index(shards, {"a": "one.safetensors", "b": name})
    assert_refused(shards / INDEX, "is missing|leads out")


@pytest.mark.parametrize("place", ["one.safetensors", "two.safetensors"])
def test_an_array_that_its_shard_lacks(shards, place):
    other = {"one.safetensors": "b", "two.safetensors": "a"}[place]
    write_index(shards, {"a": "one.safetensors", "b": "two.safetensors", other: place})
    assert_refused(shards / INDEX, f"lists '{other}', which is not in {place}")


def test_a_damaged_shard(shards):
    shard = shards / "two.safetensors"
    for _ in cut_short(shard):
        assert_refused(shards / INDEX, "is not a whole safetensors file", named=shard)
    shutil.copy(shards / "one.safetensors", shard)
    assert_refused(shards / INDEX, "lists 'b', which is not in two.safetensors")
