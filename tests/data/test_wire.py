import pytest
import tensorflow as tf

from keras_vit.data.wire import example


def serialised(**features):
    kinds = {
        bytes: lambda values: tf.train.Feature(bytes_list=tf.train.BytesList(value=values)),
        int: lambda values: tf.train.Feature(int64_list=tf.train.Int64List(value=values)),
        float: lambda values: tf.train.Feature(float_list=tf.train.FloatList(value=values)),
    }
    made = {
        name: kinds[type(values[0])](values) if values else tf.train.Feature()
        for name, values in features.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def test_values_are_those_of_protobuf():
    data = serialised(
        image=[b"x" * 300],
        texts=[b"", b"ab\0"],
        label=[7],
        several=[0, -1, 2**40, -(2**63)],
        real=[0.5, 1.5],
        empty=[],
    )
    found = example(b"before" + data + b"after", 6, 6 + len(data))
    assert set(found) == {"image", "texts", "label", "several", "real", "empty"}
    assert found["label"] == [7] and found["several"] == [0, -1, 2**40, -(2**63)]
    assert found["real"] == found["empty"] == []
    ((start, stop),) = found["image"]
    assert (b"before" + data)[start:stop] == b"x" * 300
    spans = example(data)["texts"]
    assert [data[start:stop] for start, stop in spans] == [b"", b"ab\0"]


def test_integers_that_are_not_packed():
    # field 1 (features) { 1 (entry) { 1 "a"; 2 { 3 { 1: 5, 1: -1 } } } }, written by hand
    numbers = b"\x08\x05" + b"\x08" + b"\xff" * 9 + b"\x01"
    feature = b"\x1a" + bytes([len(numbers)]) + numbers
    entry = b"\x0a\x01a" + b"\x12" + bytes([len(feature)]) + feature
    features = b"\x0a" + bytes([len(entry)]) + entry
    assert example(b"\x0a" + bytes([len(features)]) + features) == {"a": [5, -1]}


@pytest.mark.parametrize(
    "data", [b"text", b"\xff" * 30, serialised(a=[b"xyz"])[:-1], b"\x0a\x05ab"]
)
def test_what_is_no_example(data):
    with pytest.raises(ValueError, match="no tf.train.Example"):
        example(data)
