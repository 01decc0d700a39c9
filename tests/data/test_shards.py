import gzip

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import Captions, Tags, Unlabelled, available_splits, open_data, scan
from tests.data.pictures import encode, noise
from tests.data.test_wire import serialised

PICTURES = [encode(noise(5, 4, 3, seed=seed), "PNG") for seed in range(6)]


def tfrecord(path, examples):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for one in examples:
            writer.write(one)
    return path


def imagenet(number, label, text=None):
    """One example in ImageNet's usual layout; numbers start at 1 there."""
    features = {"image/encoded": [PICTURES[number]], "image/class/label": [label]}
    if text:
        features["image/class/text"] = [text.encode()]
    return serialised(**features, **{"image/height": [5], "image/object/bbox/xmin": [0.5]})


@pytest.fixture
def sharded(tmp_path):
    tfrecord(tmp_path / "train-00000-of-00002", [imagenet(0, 3, "owl"), imagenet(1, 1, "ant")])
    tfrecord(tmp_path / "train-00001-of-00002", [imagenet(2, 3, "owl")])
    tfrecord(tmp_path / "validation-00000-of-00001", [imagenet(3, 2, "bat"), imagenet(4, 1, "ant")])
    (tmp_path / "README.md").write_text("Not a shard.")
    return tmp_path


def test_imagenets_layout(sharded):
    assert available_splits(sharded) == ("train", "validation")
    train, held_out = open_data(sharded, "train"), open_data(sharded, "val")
    assert train.class_names == held_out.class_names == ("ant", "bat", "owl")
    assert train.labels.tolist() == [2, 0, 2] and held_out.labels.tolist() == [1, 0]
    assert [held_out.read(i) for i in range(2)] == PICTURES[3:5]
    read = tf.data.Dataset.range(3).map(train.encoded, num_parallel_calls=2)
    assert list(read.as_numpy_iterator()) == PICTURES[:3]
    assert train.name(2) == f"{sharded / 'train-00001-of-00002'}#0"
    assert not scan(train).broken


def test_a_file_and_a_pattern(tmp_path):
    for name in ("a.tfrecord", "b.tfrecord", "c.tfrecord"):
        tfrecord(tmp_path / name, [imagenet(0, 1), imagenet(1, 10), imagenet(2, 9)])
    one = open_data(tmp_path / "b.tfrecord")
    assert one.class_names == ("1", "9", "10") and one.labels.tolist() == [0, 2, 1]
    assert len(open_data(f"{tmp_path}/[ab].tfrecord")) == 6
    assert available_splits(tmp_path) == () and len(open_data(tmp_path)) == 9


def test_a_list_of_labels(tmp_path):
    (tmp_path / "labels.txt").write_text("ant\nbat\n")
    tfrecord(tmp_path / "x.tfrecord", [serialised(image=[PICTURES[0]], label=[1])])
    assert open_data(tmp_path).class_names == ("ant", "bat")
    tfrecord(tmp_path / "x.tfrecord", [serialised(image=[PICTURES[0]], label=[2])])
    with pytest.raises(ValueError, match="has the label '2', .* 2 classes that are listed"):
        open_data(tmp_path)


def test_other_targets(tmp_path):
    path = tmp_path / "x.tfrecord"
    tfrecord(
        path,
        [serialised(image=[p], labels=[[], [0, 2], [1]][i]) for i, p in enumerate(PICTURES[:3])],
    )
    records = open_data(path)
    assert isinstance(records.targets, Tags)
    assert records.labels.tolist() == [[0, 0, 0], [1, 0, 1], [0, 1, 0]]
    tfrecord(path, [serialised(image=[p], caption=["ü".encode()]) for p in PICTURES])
    assert open_data(path).targets.texts == ("ü",) * 6
    tfrecord(path, [serialised(image=[p]) for p in PICTURES])
    assert isinstance(open_data(path).targets, Unlabelled)
    tfrecord(path, [serialised(image=[PICTURES[0]], label=[0]), serialised(image=[PICTURES[1]])])
    with pytest.raises(ValueError, match="records with a label and records without one"):
        open_data(path)


def test_array_record(tmp_path):
    module = pytest.importorskip("array_record.python.array_record_module")
    for name, numbers in {"train": [0, 1, 2], "test": [3]}.items():
        writer = module.ArrayRecordWriter(str(tmp_path / f"{name}.array_record"), "group_size:1")
        for number in numbers:
            writer.write(imagenet(number, number % 2))
        writer.close()
    assert available_splits(tmp_path) == ("test", "train")
    train, test = open_data(tmp_path, "train"), open_data(tmp_path, "test")
    assert train.class_names == ("0", "1") and train.labels.tolist() == [0, 1, 0]
    read = tf.data.Dataset.range(3).map(train.encoded, num_parallel_calls=2)
    assert list(read.as_numpy_iterator()) == PICTURES[:3] and test.read(0) == PICTURES[3]


def test_what_is_wrong_is_named(tmp_path):
    path = tfrecord(tmp_path / "x.tfrecord", [imagenet(0, 1), imagenet(1, 1)])
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) // 2 + 5, 3):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="x.tfrecord is cut short"):
            open_data(path)
    path.write_bytes(gzip.compress(whole))
    with pytest.raises(ValueError, match="x.tfrecord is compressed, .* unpack it first"):
        open_data(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="x.tfrecord has no image"):
        open_data(path)
    tfrecord(path, [serialised(pixels=[b"x"], label=[0])])
    with pytest.raises(ValueError, match="x.tfrecord#0 has no feature image/encoded or image. It"):
        open_data(path)
    tfrecord(path, [imagenet(0, 1), b"text"])
    with pytest.raises(ValueError, match="x.tfrecord#1 holds no tf.train.Example"):
        open_data(path)
    with pytest.raises(
        FileNotFoundError, match="no TFRecord or ArrayRecord shards at .*y.tfrecord"
    ):
        open_data(tmp_path / "y.tfrecord")


def test_a_part_of_the_labels(tmp_path):
    path = tfrecord(tmp_path / "x.tfrecord", [imagenet(i, i % 2, "ab"[i % 2]) for i in range(6)])
    part = open_data(path).part(0.34, seed=0)
    assert part.class_sizes.tolist() == [1, 1]
    assert [part.read(i) for i in range(2)] == [PICTURES[i] for i in part.positions]
    assert isinstance(part.positions, np.ndarray) and not isinstance(part.targets, Captions)
