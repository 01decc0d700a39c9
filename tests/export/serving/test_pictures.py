"""Pictures decoded in a batch, whole and damaged ones."""

import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.data.decode import decode, fit
from keras_vit.export.serving import pictures as module
from keras_vit.export.serving.pictures import pictures
from keras_vit.layers import Preprocessing

PREPROCESSING = Preprocessing(image_size=(8, 12))
KINDS = ("JPEG", "PNG", "GIF", "BMP", "WEBP")


def encoded(kind):
    pixels = np.random.default_rng(KINDS.index(kind)).integers(0, 256, (20, 17, 3), "uint8")
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def one(picture):
    return fit(decode(picture), PREPROCESSING).numpy()


@pytest.fixture(scope="module")
def decoded():
    """The function as it is served: traced once."""
    return tf.function(
        lambda batch: pictures(batch, PREPROCESSING),
        input_signature=[tf.TensorSpec((None,), tf.string)],
        autograph=False,
    )


def test_whole_pictures_of_every_kind_are_decoded_at_once(decoded, monkeypatch):
    batch = [encoded(kind) for kind in KINDS]
    pixels, readable = decoded(tf.constant(batch))
    assert readable.numpy().all()
    np.testing.assert_array_equal(pixels, [one(picture) for picture in batch])
    assert module._look_whole(tf.constant(batch)).numpy().all()  # not by way of tf.data


def test_a_damaged_picture_spoils_itself_alone(decoded):
    whole = [encoded(kind) for kind in KINDS]
    halves = [picture[: len(picture) // 2] for picture in whole]
    trailer = whole[0] + b"what a telephone adds"
    batch = [b"", *halves, whole[0], b"no picture", trailer, whole[1]]
    pixels, readable = decoded(tf.constant(batch))
    assert readable.numpy().tolist() == [False] * 6 + [True, False, True, True]
    for index, picture in enumerate(batch):
        expected = one(picture) if readable[index] else np.zeros((8, 12, 3))
        np.testing.assert_array_equal(pixels[index], expected)


def test_a_batch_of_damaged_pictures_and_one_of_none(decoded):
    pixels, readable = decoded(tf.constant([b"", b"x"]))
    assert not readable.numpy().any() and not pixels.numpy().any()
    pixels, readable = decoded(tf.constant([], tf.string))
    assert pixels.shape == (0, 8, 12, 3) and readable.shape == (0,)


def test_damage_in_the_middle_fails_with_the_decoders_message(decoded):
    broken = bytearray(encoded("PNG"))
    broken[len(broken) // 2] ^= 255
    with pytest.raises(tf.errors.InvalidArgumentError, match="PNG"):
        decoded(tf.constant([bytes(broken)]))
