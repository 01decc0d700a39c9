import gzip
from importlib import metadata

import pytest

from keras_vit.data.vocabulary import byte_symbols, official_file, read_merges
from tests.data.tokens import MERGES


def test_every_byte_has_a_sign_of_its_own():
    symbols = byte_symbols()
    assert set(symbols) == set(range(256)) and len(set(symbols.values())) == 256
    assert all(symbol.isprintable() and not symbol.isspace() for symbol in symbols.values())
    assert symbols[ord("a")] == "a" and symbols[0] == "Ā"


def test_merges_are_read_gzipped_or_not(tmp_path):
    merges = read_merges(MERGES)
    assert len(merges) == 2000 and merges[0] == ("i", "n")
    packed = tmp_path / "merges.txt.gz"
    packed.write_bytes(gzip.compress(MERGES.read_bytes()))
    assert read_merges(packed) == merges


@pytest.mark.parametrize(
    "content", [b"", b"header\n", b"header\na b c\n", b"\xff\xfe", b"\x1f\x8bcut"]
)
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "merges.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is no vocabulary of CLIP"):
        read_merges(path)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_merges(tmp_path / "merges.txt")


def test_a_missing_package_is_named(monkeypatch):
    def nothing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("keras_vit.data.vocabulary.distribution", nothing)
    with pytest.raises(ImportError, match="pip install --no-deps open_clip_torch"):
        official_file()
