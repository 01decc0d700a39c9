"""A description inside a file that other programs still read."""

import json
import zipfile

import pytest

from keras_vit.layers import Preprocessing
from keras_vit.runtime.embedded import embed, embed_parity, embedded, parsed, texts

DESCRIBED = Preprocessing(
    image_size=(8, 12), mean=(0.1,), std=(0.2,), class_names=("žluť", "two words", "x")
)
FLATBUFFER = bytes(range(256)) * 5


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(FLATBUFFER)
    embed(path, DESCRIBED)
    return path


def test_the_description_comes_back(file):
    assert embedded(file) == DESCRIBED
    assert file.read_bytes().startswith(FLATBUFFER)


def test_any_zip_program_reads_it(file):
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["labels.txt", "preprocessing.json", "sha256.txt"]
        assert archive.read("labels.txt").decode() == "žluť\ntwo words\nx\n"


def test_the_record_of_the_comparison_is_added(file):
    embed_parity(file, relative=0.123456, cosine=0.99, top1=1.0, images=32)
    assert embedded(file) == DESCRIBED
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        found = json.loads(archive.read("parity.json"))
    assert found == {"relative": 0.1235, "cosine": 0.99, "top1": 1.0, "images": 32}


def test_a_model_without_class_names():
    assert texts(Preprocessing())["labels.txt"] == ""


def test_a_file_cut_short_is_refused(file):
    whole = file.read_bytes()
    for length in (0, 10, len(FLATBUFFER), len(whole) - 30):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="cut short, damaged"):
            embedded(file)


def test_a_changed_byte_is_found(file):
    content = bytearray(file.read_bytes())
    content[700] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match="checksum is wrong"):
        embedded(file)


def test_a_damaged_archive_is_refused(file):
    content = file.read_bytes()
    file.write_bytes(content.replace(b"image_size", b"image_SIZE"))
    with pytest.raises(ValueError, match="damaged"):
        embedded(file)


def test_a_file_of_another_program_is_refused(tmp_path):
    path = tmp_path / "other.tflite"
    path.write_bytes(FLATBUFFER)
    with pytest.raises(ValueError, match="not written by keras_vit"):
        embedded(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("labels.txt", "a")
    with pytest.raises(ValueError, match="no readable `preprocessing.json`"):
        embedded(path)


@pytest.mark.parametrize("text", ["", "[1]", '{"size": 3}', '{"crop": 7}'])
def test_a_description_that_says_nothing_is_refused(text):
    with pytest.raises(ValueError, match="of model.tflite cannot be used"):
        parsed(text, "model.tflite")
