"""A `.tflite` file behind the signatures of a SavedModel."""

import threading

import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.export.server.signatures import is_batched, shape_of
from keras_vit.export.server.tflite import TFLite
from tests.export.server.test_saved_model import encoded


@pytest.mark.parametrize("profile", ["float32", "npu"])
def test_answers_are_those_of_the_file(artefacts, profile):
    served = TFLite(artefacts[profile], 10_000)
    pixels = artefacts.pixels[:3]
    expected = runtime.open(artefacts[profile]).logits(pixels)
    found = served.run("serving_default", {"images": pixels.astype("float32")})
    np.testing.assert_array_equal(found["logits"], expected)
    np.testing.assert_allclose(found["probabilities"].sum(axis=-1), 1, rtol=1e-6)
    best = np.argsort(-expected, axis=-1)[:, :5]
    np.testing.assert_array_equal(found["classes"], best)
    assert found["labels"][0, 0].decode() == f"digit {best[0, 0]}"
    files = np.array([encoded(one) for one in pixels], object)
    signature, inputs, _ = served.prepare("serving_bytes", {"image_bytes": files})
    np.testing.assert_array_equal(served.run(signature, inputs)["logits"], expected)


def test_what_it_takes_and_gives_is_stated(artefacts):
    served = TFLite(artefacts["float32"], 10_000)
    one = served.definitions["serving_default"]
    assert shape_of(one.inputs["images"]) == (None, 16, 16, 1)
    assert all(is_batched(definition) for definition in served.definitions.values())
    answer = served.run("serving_default", {"images": np.zeros((2, 16, 16, 1), "float32")})
    assert set(answer) == set(one.outputs)
    for name, array in answer.items():
        assert array.shape[1:] == shape_of(one.outputs[name])[1:]


def test_every_thread_has_an_interpreter_of_its_own(artefacts):
    served = TFLite(artefacts["float32"], 10_000)
    images = artefacts.pixels[:8].astype("float32")
    expected, found = served.run("serving_default", {"images": images})["logits"], {}

    def ask(place):
        found[place] = served.run("serving_default", {"images": images})["logits"]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for logits in found.values():
        np.testing.assert_array_equal(logits, expected)
