from types import SimpleNamespace

import numpy as np
import pytest

from keras_vit.layers import Preprocessing
from keras_vit.weights.hub_preprocessing import converter_arguments, preprocessing_of

IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}


def hub_model(**fields):
    known = {
        "scale": None,
        "offset": None,
        "crop_to_aspect_ratio": False,
        "pad_to_aspect_ratio": False,
        "interpolation": "bilinear",
        "antialias": True,
    }
    converter = SimpleNamespace(**{**known, **fields})
    return SimpleNamespace(preprocessor=SimpleNamespace(image_converter=converter))


@pytest.mark.parametrize(
    "scale, offset",
    [
        ((0.0171, 0.0175, 0.0174), (-2.1, -2.0, -1.8)),
        (1 / 127.5, -1.0),
        (1 / 255, None),
        (None, (-123.0, -117.0, -104.0)),
        (None, None),
    ],
)
def test_mean_and_std_are_those_of_scale_and_offset(scale, offset):
    fields, reason, remark = preprocessing_of(hub_model(scale=scale, offset=offset), 3)
    pixels = np.array([[0.0, 17.0, 255.0], [101.0, 5.0, 64.0]])
    theirs = pixels * (1.0 if scale is None else scale) + (0.0 if offset is None else offset)
    ours = (pixels / 255 - fields["mean"]) / fields["std"]
    assert (reason, remark) == (None, None)
    assert np.abs(ours - theirs).max() <= 1e-12 * np.abs(theirs).max()
    normalised = np.asarray(Preprocessing(**fields).normalize(pixels))
    assert np.abs(normalised - theirs).max() <= 1e-6 * np.abs(theirs).max()


def test_one_channel_gets_one_mean():
    fields, _, _ = preprocessing_of(hub_model(scale=1 / 255), 1)
    assert fields["mean"] == (0.0,) and fields["std"] == (1.0,)


def test_the_way_of_resizing():
    fields, _, _ = preprocessing_of(
        hub_model(crop_to_aspect_ratio=True, interpolation="bicubic"), 3
    )
    assert (fields["resize"], fields["interpolation"]) == ("crop", "bicubic")
    fields, _, _ = preprocessing_of(hub_model(), 3)
    assert (fields["resize"], fields["interpolation"]) == ("squash", "bilinear")


def test_resizing_without_antialiasing_is_remarked():
    assert "antialiasing" in preprocessing_of(hub_model(antialias=False), 3)[2]
    assert preprocessing_of(hub_model(antialias=False, interpolation="nearest"), 3)[2] is None


@pytest.mark.parametrize(
    "fields, word",
    [({"pad_to_aspect_ratio": True}, "pad"), ({"interpolation": "lanczos3"}, "'lanczos3'")],
)
def test_what_we_cannot_do_is_named(fields, word):
    found, reason, _ = preprocessing_of(hub_model(**fields), 3)
    assert found is None and word in reason


def test_a_preprocessor_of_the_users_own_is_refused():
    model = SimpleNamespace(preprocessor=lambda images: images)
    assert "ImageConverter" in preprocessing_of(model, 3)[1]


def test_a_model_that_says_nothing():
    assert preprocessing_of(SimpleNamespace(), 3) == (None, None, None)
    assert preprocessing_of(SimpleNamespace(preprocessor=None), 3) == (None, None, None)


def test_to_a_converter_and_back():
    preprocessing = Preprocessing((14, 35), **IMAGENET, resize="crop", interpolation="bicubic")
    config = SimpleNamespace(preprocessing=preprocessing, image_size=(14, 35))
    arguments, reason = converter_arguments(config)
    assert reason is None
    assert arguments.pop("image_size") == (14, 35)
    fields, reason, remark = preprocessing_of(hub_model(**arguments), 3)
    assert (reason, remark) == (None, None)
    assert Preprocessing((14, 35), **fields) == preprocessing


def test_a_centre_crop_is_not_kerashubs():
    preprocessing = Preprocessing(resize="crop", crop=0.875)
    config = SimpleNamespace(preprocessing=preprocessing, image_size=(224, 224))
    assert "centre crop of 0.875" in converter_arguments(config)[1]
