import numpy as np
import pytest
from keras import ops

from keras_vit.layers import FrameEncoder, PatchEncoder

PATCHES = np.random.default_rng(3).normal(size=(2 * 5, 6, 11)).astype("float32")


def made(**options):
    encoder = FrameEncoder(width=8, grid=(2, 3), frames=5, **options)
    encoder.build(PATCHES.shape)
    encoder.class_token.assign(ops.ones((1, 1, 8)))
    return encoder


@pytest.mark.parametrize("class_position", [True, False])
def test_each_frame_is_a_picture_and_has_its_time(class_position):
    encoder = made(class_position=class_position)
    picture = PatchEncoder(width=8, grid=(2, 3), class_position=class_position)
    picture.build(PATCHES.shape)
    picture.set_weights([w for w in encoder.get_weights() if w.shape != (1, 5, 8)])
    time = np.random.default_rng(5).normal(size=(1, 5, 8)).astype("float32")
    encoder.time.assign(time)
    expected = ops.convert_to_numpy(picture(PATCHES)).reshape(2, 5, 7, 8)
    found = ops.convert_to_numpy(encoder(PATCHES))
    assert found.shape == (2, 31, 8)
    np.testing.assert_allclose(found[:, 0], expected[:, 0, 0], rtol=1e-6)
    clips = found[:, 1:].reshape(2, 5, 6, 8)
    np.testing.assert_allclose(clips, expected[:, :, 1:] + time[:, :, None], rtol=1e-4, atol=1e-6)


def test_time_starts_at_zero():
    assert not ops.convert_to_numpy(made().time).any()


def test_shapes_are_told_before():
    encoder = made(class_token=True)
    assert encoder.compute_output_shape((10, 6, 11)) == (2, 31, 8)
    assert encoder.compute_output_shape((None, 6, 11)) == (None, 31, 8)
