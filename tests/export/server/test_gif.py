"""Frames of GIFs."""

import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.export.server.gif import first_frame


def animated(frames, **options):
    pictures = [
        Image.fromarray(np.random.RandomState(seed).randint(0, 256, (23, 31, 3), "uint8"))
        for seed in range(frames)
    ]
    file = io.BytesIO()
    pictures[0].save(
        file, "GIF", save_all=True, append_images=pictures[1:], comment=b"x" * 700, **options
    )
    return file.getvalue()


@pytest.mark.parametrize(
    "options", [{}, {"loop": 0, "duration": 50}, {"include_color_table": True}]
)
def test_the_first_frame_stays_as_it_is(options):
    whole = animated(4, **options)
    short = first_frame(whole)
    assert len(short) < len(whole) / 2
    frames = tf.io.decode_gif(short)
    assert frames.shape == (1, 23, 31, 3)
    np.testing.assert_array_equal(frames[0], tf.io.decode_gif(whole)[0])


def test_a_still_picture():
    whole = animated(1)
    assert first_frame(whole) == whole


def test_damaged_files_end_somewhere():
    whole = animated(2)
    for length in range(0, len(whole), 7):
        assert whole.startswith(first_frame(whole[:length]).rstrip(b";")[:length])
    for place in range(0, len(whole), 11):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        assert len(first_frame(bytes(changed))) <= len(whole) + 1
    assert first_frame(b"\x89PNG") == b"\x89PNG"
