"""The real TFDS, with a data set that is made here and prepared without a network."""

import re

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import (
    Captions,
    Tags,
    Unlabelled,
    available_splits,
    open_data,
    open_train_and_held_out,
    scan,
)
from keras_vit.data.decode import decode

tfds = pytest.importorskip("tensorflow_datasets")


def image(number):
    return np.full((5, 4, 3), number, "uint8")


class KerasVitTiny(tfds.core.GeneratorBasedBuilder):
    """Eight images of two classes; the class is the number's parity."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict(
                {
                    "image": tfds.features.Image(shape=(None, None, 3)),
                    "label": tfds.features.ClassLabel(names=["even", "odd"]),
                }
            ),
            supervised_keys=("image", "label"),
        )

    def _split_generators(self, _):
        return {"train": self._numbers(0, 8), "test": self._numbers(8, 12)}

    def _numbers(self, start, stop):
        for number in range(start, stop):
            yield number, {"image": image(number), "label": number % 2}

    def _generate_examples(self):
        raise NotImplementedError


class KerasVitBlocked(KerasVitTiny):
    """One that would need a network."""

    def _split_generators(self, _):
        raise ConnectionError("Name or service not known")


class KerasVitOther(KerasVitTiny):
    """One with other features; the configuration says which."""

    BUILDER_CONFIGS = [
        tfds.core.BuilderConfig(name=name) for name in ("none", "tags", "texts", "no_image")
    ]

    def _info(self):
        kinds = {
            "none": {"image": tfds.features.Image(), "file_name": tfds.features.Text()},
            "tags": {
                "picture": tfds.features.Image(),
                "tags": tfds.features.Sequence(tfds.features.ClassLabel(names=["a", "b", "c"])),
            },
            "texts": {"image": tfds.features.Image(), "caption": tfds.features.Text()},
            "no_image": {"caption": tfds.features.Text()},
        }
        features = tfds.features.FeaturesDict(kinds[self.builder_config.name])
        return tfds.core.DatasetInfo(builder=self, features=features)

    def _numbers(self, start, stop):
        for number in range(start, stop):
            values = {
                "image": image(number),
                "picture": image(number),
                "file_name": f"{number}.png",
                "caption": f"number {number}",
                "tags": [0, 2][: number % 3],
            }
            yield number, {key: values[key] for key in self.info.features}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tfds")


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.setenv("TFDS_DATA_DIR", str(folder))


def number_of(records, index):
    return int(decode(records.read(index))[0, 0, 0])


def test_images_are_read_encoded_in_a_graph(folder):
    records = open_data("tfds:keras_vit_tiny", "train")
    assert records.class_names == ("even", "odd") and len(records) == 8
    assert records.read(0).startswith(b"\x89PNG")
    read = tf.data.Dataset.range(8).map(records.encoded, num_parallel_calls=2)
    assert list(read.as_numpy_iterator()) == [records.read(i) for i in range(8)]
    numbers = [number_of(records, i) for i in range(8)]
    assert sorted(numbers) == list(range(8))
    assert [number % 2 for number in numbers] == records.labels.tolist()
    assert records.name(3) == "tfds:keras_vit_tiny@train#3"
    assert not scan(records).broken


def test_splits_and_slices():
    assert available_splits("tfds:keras_vit_tiny") == ("train", "test")
    assert available_splits("tfds:keras_vit_tiny@train") == ()
    assert len(open_data("tfds:keras_vit_tiny@test")) == 4
    assert len(open_data("tfds:keras_vit_tiny@train[:50%]")) == 4
    assert len(open_data("tfds:keras_vit_tiny", "train[:25%]")) == 2
    assert len(open_data("tfds:keras_vit_tiny", "val")) == 4
    assert [len(part) for part in open_train_and_held_out("tfds:keras_vit_tiny", 0.5, 0)] == [8, 4]
    parts = open_train_and_held_out("tfds:keras_vit_tiny@train", 0.5, 0)
    assert [part.class_sizes.tolist() for part in parts] == [[2, 2], [2, 2]]


def test_wrong_names():
    with pytest.raises(ValueError, match="no TFDS data set 'keras_vit_tiy'.*keras_vit_tiny"):
        open_data("tfds:keras_vit_tiy")
    with pytest.raises(ValueError, match="no split 'extra'. It has: train, test"):
        open_data("tfds:keras_vit_tiny@extra")
    with pytest.raises(ValueError, match=r"one of \('train', 'test'\).*Received: None"):
        open_data("tfds:keras_vit_tiny")
    with pytest.raises(ValueError, match=r"is tfds:NAME.*Received: 'tfds:'"):
        open_data("tfds:")


def test_offline_says_what_to_put_where(folder):
    where = re.escape(str(folder / "keras_vit_blocked" / "1.0.0"))
    match = (
        f"'keras_vit_blocked' is not in {where} .*ConnectionError: Name or service not known"
        f".*tfds build keras_vit_blocked --file_format=array_record.*{where}/dataset_info.json"
    )
    with pytest.raises(FileNotFoundError, match=match):
        open_data("tfds:keras_vit_blocked", "train")


def test_a_format_without_random_access(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
    tfds.builder("keras_vit_tiny", data_dir=tmp_path).download_and_prepare()
    with pytest.raises(ValueError, match="without random access .tfrecord.*array_record"):
        open_data("tfds:keras_vit_tiny", "train")


def test_other_features():
    none = open_data("tfds:keras_vit_other/none", "train")
    assert isinstance(none.targets, Unlabelled) and len(none) == 8
    tags = open_data("tfds:keras_vit_other/tags", "train")
    assert isinstance(tags.targets, Tags) and tags.class_names == ("a", "b", "c")
    for i in range(8):
        assert tags.labels[i].tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 1]][number_of(tags, i) % 3]
    texts = open_data("tfds:keras_vit_other/texts", "train")
    assert isinstance(texts.targets, Captions)
    assert texts.targets.texts == tuple(f"number {number_of(texts, i)}" for i in range(8))
    with pytest.raises(ValueError, match="keras_vit_other/no_image' has no images.*: caption"):
        open_data("tfds:keras_vit_other/no_image", "train")


def test_a_prepared_folder_needs_no_name(folder, monkeypatch):
    by_name = open_data("tfds:keras_vit_tiny", "train")
    monkeypatch.delenv("TFDS_DATA_DIR")
    path = folder / "keras_vit_tiny" / "1.0.0"
    assert available_splits(path) == ("train", "test")
    for spec, split in ((path, "train"), (f"tfds:{path}@train", None)):
        records = open_data(spec, split)
        assert records.labels.tolist() == by_name.labels.tolist()
        assert records.read(5) == by_name.read(5)
    assert len(open_data(f"tfds:{path}@train[:80%]")) == 6


def test_an_empty_slice():
    with pytest.raises(ValueError, match=r"has no image in 'train\[:1%\]', or.*: train, test"):
        open_data("tfds:keras_vit_tiny", "train[:1%]")


def test_a_folder_of_data_sets_by_argument(folder, monkeypatch, tmp_path):
    by_name = open_data("tfds:keras_vit_tiny", "train")
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "elsewhere"))
    records = open_data("tfds:keras_vit_tiny", "train", data_dir=folder)
    assert records.labels.tolist() == by_name.labels.tolist()
    parts = open_train_and_held_out("tfds:keras_vit_tiny", 0.5, 0, data_dir=folder)
    assert [len(part) for part in parts] == [8, 4]
    assert available_splits("tfds:keras_vit_tiny", data_dir=folder) == ("train", "test")
    assert not (tmp_path / "elsewhere").exists()
