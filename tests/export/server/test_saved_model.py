"""SavedModels of ours and of others."""

import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.export.server.errors import Refused
from keras_vit.export.server.saved_model import SavedModel


def test_a_model_of_others(toy_model):
    served = SavedModel(toy_model, 1000)
    assert served.preprocessing is None
    inputs = {"x": np.ones((1, 2), "float32")}
    assert served.prepare("serving_default", inputs) == ("serving_default", inputs)
    assert served.run("serving_default", inputs)["y"].tolist() == [[2, 2]]
    texts = {"text_bytes": np.array([b"ab"], object)}
    assert served.run(*served.prepare("texts", texts))["back_bytes"].tolist() == [b"ab"]


def encoded(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0]).save(file, "PNG")
    return file.getvalue()


def test_pictures_of_our_models_are_decoded_one_by_one(artefacts):
    served = SavedModel(artefacts["server"], 10_000)
    files = [encoded(pixels) for pixels in artefacts.pixels[:2]]
    signature, inputs = served.prepare("serving_bytes", {"image_bytes": np.array(files, object)})
    assert signature == "serving_default"
    np.testing.assert_array_equal(inputs["images"], artefacts.pixels[:2])
    found = served.run(signature, inputs)
    graph = tf.saved_model.load(str(artefacts["server"])).signatures["serving_bytes"]
    for name, tensor in graph(image_bytes=tf.constant(files)).items():
        if tensor.dtype.is_floating:
            np.testing.assert_allclose(found[name], tensor, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(found[name], tensor)
    with pytest.raises(Refused, match=r"image_bytes\[1\]"):
        served.prepare("serving_bytes", {"image_bytes": np.array([files[0], b"x"], object)})
