"""Calls with pictures become calls with pixels."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2

from keras_vit.export.server import picture_calls
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.picture_calls import PictureCalls
from keras_vit.export.server.signatures import tensor_info
from keras_vit.layers import Preprocessing

GREY = Preprocessing(image_size=(4, 4), mean=(0.5,), std=(0.5,))
OUTPUTS = {
    "logits": (tf.float32, (None, 3)),
    "classes": (tf.int64, (None, 2)),
    "labels": (tf.string, (None, 2)),
    "scores": (tf.float32, (None, 2)),
    "error": (tf.string, (None,)),
}


def definition(name, dtype, outputs=OUTPUTS):
    infos = {key: tensor_info(kind, shape, key) for key, (kind, shape) in outputs.items()}
    return meta_graph_pb2.SignatureDef(
        inputs={name: tensor_info(dtype, (None,), name)}, outputs=infos
    )


def definitions(outputs=OUTPUTS):
    return {
        "serving_default": definition("images", tf.float32, outputs),
        "serving_bytes": definition("image_bytes", tf.string, outputs),
        "classify": definition("inputs", tf.string, {"classes": (tf.string, (None, 2))}),
    }


def texts(*values):
    return np.array(values, dtype=object)


def picture(level):
    return bytes([level])


def example(encoded):
    made = tf.train.Example()
    made.features.feature["image/encoded"].bytes_list.value.append(encoded)
    return made.SerializeToString()


def answered(count):
    """What a model would say."""
    return {
        "logits": np.ones((count, 3), "float32"),
        "classes": np.ones((count, 2), "int64"),
        "labels": np.full((count, 2), b"cat", dtype=object),
        "scores": np.full((count, 2), 0.5, "float32"),
        "error": texts(*[b""] * count),
    }


class Levels:
    """Reads pictures that are one byte, in a moment."""

    def __init__(self, preprocessing, max_pixels):
        assert (preprocessing, max_pixels) == (GREY, 1000)

    def read(self, encoded):
        levels = [one[0] if len(one) == 1 else 0 for one in encoded]
        pixels = np.repeat(np.array(levels, "float32"), 16).reshape(-1, 4, 4, 1)
        return pixels, ["" if len(one) == 1 else "It is bad." for one in encoded]


@pytest.fixture(autouse=True)
def levels(monkeypatch):
    monkeypatch.setattr(picture_calls, "Pictures", Levels)


@pytest.fixture
def calls():
    return PictureCalls(definitions(), GREY, 1000)


def test_good_pictures(calls):
    signature, inputs, finish = calls.prepare("serving_bytes", {"image_bytes": texts(picture(7))})
    assert signature == "serving_default" and inputs["images"].shape == (1, 4, 4, 1)
    assert (inputs["images"] == 7).all()
    outputs = answered(1)
    assert finish(outputs) is outputs


def test_a_bad_picture_fails_alone(calls):
    encoded = {"image_bytes": texts(picture(7), b"bad", picture(9))}
    _, inputs, finish = calls.prepare("serving_bytes", encoded)
    assert inputs["images"][:, 0, 0, 0].tolist() == [7, 0, 9]
    found = finish(answered(3))
    assert found["classes"].tolist() == [[1, 1], [-1, -1], [1, 1]]
    assert found["labels"].tolist() == [[b"cat"] * 2, [b""] * 2, [b"cat"] * 2]
    assert found["logits"].tolist() == [[1] * 3, [0] * 3, [1] * 3]
    assert found["error"][0] == found["error"][2] == b""
    assert found["error"][1] == b"It is bad."


def test_examples(calls):
    encoded = texts(example(picture(7)), tf.train.Example().SerializeToString())
    signature, inputs, finish = calls.prepare("classify", {"inputs": encoded})
    assert signature == "serving_default"
    assert inputs["images"][:, 0, 0, 0].tolist() == [7, 0]
    found = finish(answered(2))
    assert set(found) == {"classes", "scores"}
    assert found["classes"].tolist() == [[b"cat"] * 2, [b""] * 2]
    with pytest.raises(Refused, match=r"inputs\[1\] is no tf.Example"):
        calls.prepare("classify", {"inputs": texts(example(picture(7)), b"\xff\xff")})


def test_other_signatures_are_left(calls):
    inputs = {"images": np.zeros((1, 4, 4, 1), "float32")}
    signature, same, finish = calls.prepare("serving_default", inputs)
    assert (signature, same) == ("serving_default", inputs) and finish(3) == 3


def test_models_without_an_output_for_errors_refuse():
    outputs = {name: form for name, form in OUTPUTS.items() if name != "error"}
    calls = PictureCalls(definitions(outputs), GREY, 1000)
    with pytest.raises(Refused, match=r"image_bytes\[1\] is no picture: It is bad"):
        calls.prepare("serving_bytes", {"image_bytes": texts(picture(7), b"bad")})


def test_models_of_others_decode_themselves():
    others = {**definitions(), "serving_bytes": definition("image_bytes", tf.string, {})}
    assert not PictureCalls(definitions(), None, 1000).can_read
    inputs = {"image_bytes": texts(b"bad")}
    only_classify = PictureCalls(others, GREY, 1000)
    assert only_classify.can_read
    assert only_classify.prepare("serving_bytes", inputs)[:2] == ("serving_bytes", inputs)
