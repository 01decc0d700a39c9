import pytest

from keras_vit.data import available_splits, find_data, open_data, open_train_and_held_out
from tests.data.pictures import write_folder


@pytest.fixture
def whole(tmp_path):
    return write_folder(tmp_path / "whole", {"cat": 10, "dog": 5})


@pytest.fixture
def parted(tmp_path):
    for split, count in {"train": 4, "val": 2, "test": 3}.items():
        write_folder(tmp_path / "parted" / split, {"cat": count, "dog": count})
    return tmp_path / "parted"


def test_a_whole_folder(whole):
    assert available_splits(whole) == ()
    assert len(open_data(str(whole))) == 15
    train, held_out = open_train_and_held_out(whole, 0.2, seed=0)
    assert train.class_sizes.tolist() == [8, 4] and held_out.class_sizes.tolist() == [2, 1]
    with pytest.raises(ValueError, match="`split` must be left out.*Received: 'test'"):
        open_data(whole, "test")


def test_a_folder_with_splits(parted):
    assert available_splits(parted) == ("train", "val", "test")
    assert [len(open_data(parted, split)) for split in ("train", "val", "test")] == [8, 4, 6]
    train, held_out = open_train_and_held_out(parted, 0.2, seed=0)
    assert (len(train), len(held_out)) == (8, 4)
    with pytest.raises(ValueError, match=r"one of \('train', 'val', 'test'\).*Received: None"):
        open_data(parted)
    with pytest.raises(ValueError, match="Received: 'extra'"):
        open_data(parted, "extra")


@pytest.mark.parametrize("folder", ["val", "validation", "test"])
def test_held_out_splits_stand_for_each_other(tmp_path, folder):
    write_folder(tmp_path / "train", {"cat": 4})
    write_folder(tmp_path / folder, {"cat": 2})
    for split in ("val", "validation", "test"):
        assert len(open_data(tmp_path, split)) == 2
    assert len(open_train_and_held_out(tmp_path, 0.5, 0)[1]) == 2


def test_only_a_training_split(tmp_path):
    write_folder(tmp_path / "train", {"cat": 4})
    train, held_out = open_train_and_held_out(tmp_path, 0.5, 0)
    assert (len(train), len(held_out)) == (2, 2)


def test_what_has_splits_is_read_once(tmp_path, monkeypatch):
    """One reading of a manifest and one index of shards serve all their splits."""
    import keras_vit.data.manifest
    import keras_vit.data.shards
    from tests.data.test_shards import imagenet, tfrecord

    calls = []
    for module, name in ((keras_vit.data.manifest, "_rows"), (keras_vit.data.shards, "_records")):
        whole = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, w=whole: calls.append(given) or w(*given))
    manifest = tmp_path / "data.csv"
    manifest.write_text("path,label,split\na,x,train\nb,y,train\nc,x,test\n")
    shards = tmp_path / "shards"
    tfrecord(shards / "train-00000-of-00001", [imagenet(0, 1, "a"), imagenet(1, 2, "b")])
    tfrecord(shards / "test-00000-of-00001", [imagenet(2, 1, "a")])
    for spec, looks in ((manifest, 1), (shards, 2)):  # two files of shards
        calls.clear()
        data = find_data(spec)
        assert sorted(data.splits) == ["test", "train"]
        assert [len(part) for part in data.open_train_and_held_out(0.5, 0)] == [2, 1]
        assert {name: len(part) for name, part in data.open_all().items()} == {
            "train": 2,
            "test": 1,
        }
        assert find_data(data) is data and len(open_data(data, "test")) == 1
        assert len(calls) == looks


def test_a_data_dir_is_for_tfds_alone(whole):
    with pytest.raises(ValueError, match="for tfds:NAME alone. Received: data_dir='x' for"):
        open_data(whole, data_dir="x")
