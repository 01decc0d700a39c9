"""A `.tflite` file behind the signatures of a SavedModel."""

import threading

import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.signatures import is_batched, shape_of
from keras_vit.export.server.tflite import TFLite
from tests.data.pictures import encode


@pytest.fixture(scope="module")
def served(artefacts):
    return TFLite(artefacts["float32"], 10_000)


def images(artefacts, count):
    return {"images": artefacts.pixels[:count].astype("float32")}


def test_answers_are_those_of_the_file(artefacts, served):
    pixels = artefacts.pixels[:3]
    expected = runtime.open(artefacts["float32"]).logits(pixels)
    found = served.run("serving_default", images(artefacts, 3))
    np.testing.assert_array_equal(found["logits"], expected)
    np.testing.assert_allclose(found["probabilities"].sum(axis=-1), 1, rtol=1e-6)
    best = np.argsort(-expected, axis=-1)[:, :5]
    np.testing.assert_array_equal(found["classes"], best)
    assert found["labels"][0, 0].decode() == f"digit {best[0, 0]}"
    files = np.array([encode(one[..., 0], "PNG") for one in pixels] + [b"bad"], object)
    signature, inputs, finish = served.prepare("serving_bytes", {"image_bytes": files})
    found = finish(served.run(signature, inputs))
    np.testing.assert_array_equal(found["logits"][:3], expected)
    assert [bool(text) for text in found["error"]] == [False, False, False, True]


@pytest.mark.parametrize("value", [-1, 256, float("nan")])
def test_values_that_are_no_pixels(served, value):
    images = np.full((1, 16, 16, 1), value, "float32")
    with pytest.raises(Refused, match="raw values from 0 to 255") as caught:
        served.run("serving_default", {"images": images})
    assert caught.value.code == "INVALID_ARGUMENT"


@pytest.mark.prove
def test_integer_files(artefacts):
    served = TFLite(artefacts["npu"], 10_000)
    expected = runtime.open(artefacts["npu"]).logits(artefacts.pixels[:3])
    found = served.run("serving_default", images(artefacts, 3))
    np.testing.assert_array_equal(found["logits"], expected)


def test_what_it_takes_and_gives_is_stated(served):
    one = served.definitions["serving_default"]
    assert shape_of(one.inputs["images"]) == (None, 16, 16, 1)
    assert all(is_batched(definition) for definition in served.definitions.values())
    answer = served.run("serving_default", {"images": np.zeros((2, 16, 16, 1), "float32")})
    assert set(answer) == set(one.outputs)
    for name, array in answer.items():
        assert array.shape[1:] == shape_of(one.outputs[name])[1:]


def test_every_thread_has_an_interpreter_of_its_own(artefacts, served):
    inputs = images(artefacts, 8)
    expected, found = served.run("serving_default", inputs)["logits"], {}

    def ask(place):
        found[place] = served.run("serving_default", inputs)["logits"]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for logits in found.values():
        np.testing.assert_array_equal(logits, expected)
