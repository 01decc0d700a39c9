"""The profiles and how they are found."""

import pytest

from keras_vit.export import PROFILES
from keras_vit.export.exporter import FORMATS
from keras_vit.export.profiles import profile_named
from keras_vit.export.tflite import PRECISIONS


def test_the_names():
    assert list(PROFILES) == ["server", "float32", "cpu", "npu"]
    assert all(name == profile.name for name, profile in PROFILES.items())


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_every_profile_can_be_written(profile):
    assert profile.format in FORMATS
    assert profile.format == "saved_model" or profile.precision in PRECISIONS
    assert profile.ending in ("", ".tflite")
    assert profile_named(profile) is profile_named(profile.name) is profile


def test_an_unknown_name_lists_the_names():
    with pytest.raises(ValueError, match="one of: server, float32, cpu, npu. Received: 'gpu'"):
        profile_named("gpu")
