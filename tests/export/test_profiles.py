"""The profiles and how they are found."""

import pytest

from keras_vit.export import PROFILES
from keras_vit.export.converter import CONVERTER, QUANTIZER
from keras_vit.export.exporter import FORMATS
from keras_vit.export.profiles import profile_named
from keras_vit.export.rewrite import PASSES


def test_the_names():
    assert list(PROFILES) == (
        "cpu mobile gpu web npu npu-16x8 edgetpu mcu server onnx float32".split()
    )
    assert all(name == profile.name for name, profile in PROFILES.items())


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_every_profile_can_be_written(profile):
    assert profile.format in {*FORMATS, "onnx"}
    precisions = {"converter": CONVERTER, "litert-quantizer": QUANTIZER, None: ["float32"]}
    assert profile.precision in precisions[profile.quantiser]
    assert profile.ending in ("", ".tflite", ".onnx")
    assert profile.calibrated or not profile.integer
    assert set(profile.passes) <= set(PASSES)
    assert profile_named(profile) is profile_named(profile.name) is profile


def test_an_unknown_name_lists_the_names():
    with pytest.raises(ValueError, match=r"one of \['cpu', 'edgetpu', .*'web'\]. Received: 'tpu'"):
        profile_named("tpu")
