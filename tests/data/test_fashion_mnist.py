import gzip

import numpy as np
import pytest

from keras_vit.data import open_data, write_fashion_mnist
from keras_vit.data.decode import decode
from keras_vit.data.fashion_mnist import CLASSES
from tests.data.pictures import noise

PARTS = {"train": ("train", 20), "test": ("t10k", 10)}
IMAGES = {start: noise(count, 28, 28, seed=count) for start, count in PARTS.values()}


def write_idx(path, magic, array):
    header = np.array([magic, *array.shape], ">u4").tobytes()
    path.write_bytes(gzip.compress(header + array.astype("uint8").tobytes()))


@pytest.fixture
def source(tmp_path):
    for start, images in IMAGES.items():
        write_idx(tmp_path / f"{start}-images-idx3-ubyte.gz", 2051, images)
        labels = np.arange(len(images)) % 10
        write_idx(tmp_path / f"{start}-labels-idx1-ubyte.gz", 2049, labels)
    return tmp_path


def test_images_and_labels(source, tmp_path):
    folder = write_fashion_mnist(source, tmp_path / "out", PARTS)
    for split, (start, count) in PARTS.items():
        records = open_data(folder, split)
        assert records.class_names == tuple(sorted(CLASSES)) and len(records) == count
        for index in range(count):
            number = int(records.name(index)[-9:-4])
            assert records.class_names[records.labels[index]] == CLASSES[number % 10]
            np.testing.assert_array_equal(
                decode(records.read(index), 1)[..., 0], IMAGES[start][number]
            )


def test_a_folder_that_is_there_is_left_alone(source, tmp_path):
    (tmp_path / "out").mkdir()
    write_fashion_mnist(source, tmp_path / "out", PARTS)
    assert list((tmp_path / "out").iterdir()) == []


def expect(error, match, source, tmp_path, parts=PARTS):
    with pytest.raises(error, match=match):
        write_fashion_mnist(source, tmp_path / "out", parts)
    assert not (tmp_path / "out").exists()


def test_missing_files(source, tmp_path):
    (source / "t10k-labels-idx1-ubyte.gz").unlink()
    expect(FileNotFoundError, "t10k-labels.*dataset-fashion-mnist", source, tmp_path)


def test_wrong_files(source, tmp_path):
    path = source / "train-labels-idx1-ubyte.gz"
    whole = path.read_bytes()
    write_idx(path, 2050, np.arange(20) % 10)
    expect(ValueError, "must have the magic number 2049", source, tmp_path)
    write_idx(path, 2049, np.arange(19) % 10)
    expect(ValueError, r"sizes \(20,\). Received: \[2049\], \(19,\), 19", source, tmp_path)
    write_idx(path, 2049, np.arange(20))
    expect(ValueError, "must hold labels 0 to 9. Received: 19", source, tmp_path)
    path.write_bytes(whole[:-9])
    expect(ValueError, "is damaged", source, tmp_path)
    path.write_bytes(b"text")
    expect(ValueError, "is damaged", source, tmp_path)
    path.write_bytes(whole)
    expect(ValueError, r"sizes \(60000, 28, 28\)", source, tmp_path, parts=None)
