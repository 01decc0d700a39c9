"""OpenVINO gets the same logits, in float32, from both kinds that it reads."""

import numpy as np
import pytest

from keras_vit import runtime


# The SavedModel has graphs for pictures, too, which OpenVINO looks through for half a minute.
@pytest.mark.parametrize("profile", [pytest.param("server", marks=pytest.mark.prove), "onnx"])
def test_logits_are_the_models(artefacts, profile):
    predictor = runtime.open(artefacts[profile], engine="openvino")
    pixels = artefacts.pixels[:35]
    expected = runtime.open(artefacts.model).logits(pixels)
    # bfloat16, its default on some CPUs, is off by 1e-2.
    assert np.abs(predictor.logits(pixels) - expected).max() <= 1e-5 * np.abs(expected).max()
    assert predictor.logits(pixels[:0]).shape == (0, 10)
    assert predictor.kind == "openvino" and predictor.path == artefacts[profile]
    assert predictor.class_names[3] == "digit 3"


def test_other_kinds_and_engines_are_refused(artefacts):
    with pytest.raises(ValueError, match="a SavedModel or an .onnx file.*a keras"):
        runtime.open(artefacts.model, engine="openvino")
    with pytest.raises(ValueError, match="`engine` must be.*openvino"):
        runtime.open(artefacts["onnx"], engine="openvin")
