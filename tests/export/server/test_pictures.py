"""Pictures one by one."""

import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.data.decode import decode, fit
from keras_vit.export.server.pictures import Pictures
from keras_vit.layers import Preprocessing

HOW = Preprocessing(image_size=(12, 20), resize="crop", crop=0.9, interpolation="bicubic")


def encoded(kind, size=(31, 23), mode="RGB"):
    noise = np.random.default_rng(3).integers(0, 256, (size[1], size[0], len(mode)), "uint8")
    file = io.BytesIO()
    Image.fromarray(noise, mode).save(file, kind)
    return file.getvalue()


@pytest.fixture(scope="module")
def pictures():
    return Pictures(HOW, max_pixels=31 * 23)


KINDS = ("JPEG", "PNG", "GIF", "BMP", "WEBP")


def test_pixels_are_those_of_training(pictures):
    files = [encoded(kind) for kind in KINDS]
    pixels, reasons = pictures.read(files)
    assert pixels.shape == (5, 12, 20, 3) and pixels.dtype == np.float32
    assert reasons == [""] * 5
    for one, file in zip(pixels, files, strict=True):
        np.testing.assert_array_equal(one, fit(decode(tf.constant(file)), HOW))


def test_too_many_pixels_are_refused_by_the_header(pictures):
    for kind in KINDS:
        if kind == "BMP":  # as large as its pixels, so the limit on bodies holds
            continue
        file = encoded(kind, (32, 23))
        # The pixels themselves are not needed for that.
        for part in (file, file[: 700 if kind == "JPEG" else 40]):
            assert pictures.read([part])[1] == ["The picture has more than 713 pixels."]


def test_a_bad_picture_is_bad_alone(pictures):
    good = encoded("PNG")
    expected = pictures.read([good])[0][0]
    for bad in (b"", b"no picture", b"\xff\xd8\xff\xe0 cut", b"RIFF....WAVE", good[:200]):
        pixels, reasons = pictures.read([good, bad, good])
        assert reasons[0] == reasons[2] == "" and reasons[1] and "node" not in reasons[1]
        np.testing.assert_array_equal(pixels[0], expected)
        np.testing.assert_array_equal(pixels[2], expected)
        assert not pixels[1].any()
