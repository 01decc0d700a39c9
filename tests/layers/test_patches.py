"""The order of patches and of the pixels in them."""

import keras
import numpy as np
import pytest

from keras_vit.layers import Patches
from tests.oracles import vit_numpy


def test_golden_first_patch():
    image = np.arange(48, dtype="float32").reshape(1, 4, 4, 3)
    patches = np.asarray(Patches(2)(image))
    assert patches.shape == (1, 4, 12)
    np.testing.assert_array_equal(patches[0, 0], [0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17])
    # Row by row: the next patch is to the right, the third below the first.
    np.testing.assert_array_equal(patches[0, :, 0], [0, 6, 24, 30])


@pytest.mark.parametrize(
    ("size", "patch", "channels"),
    [((10, 15), (5, 5), 3), ((6, 35), (3, 7), 5), ((35, 6), (7, 2), 1), ((3, 7), (3, 7), 2)],
)
def test_numpy_agrees(size, patch, channels):
    image = np.arange(2 * size[0] * size[1] * channels, dtype="float32")
    image = image.reshape(2, *size, channels)
    layer = Patches(patch)
    patches = layer(image)
    np.testing.assert_array_equal(patches, vit_numpy.patches(image, patch))
    assert patches.shape == layer.compute_output_shape(image.shape)
    assert layer.grid(size) == (size[0] // patch[0], size[1] // patch[1])


def test_a_projected_patch_is_a_convolution():
    image = np.random.default_rng(0).normal(size=(2, 6, 35, 3)).astype("float32")
    kernel = np.random.default_rng(1).normal(size=(3, 7, 3, 11)).astype("float32")
    projected = keras.ops.matmul(Patches((3, 7))(image), kernel.reshape(-1, 11))
    convolved = keras.ops.conv(
        image, kernel, strides=(3, 7), padding="valid", data_format="channels_last"
    )
    np.testing.assert_allclose(
        projected, keras.ops.reshape(convolved, (2, 10, 11)), rtol=0, atol=2e-5
    )


def test_an_image_of_unknown_size_is_taken():
    output = Patches((3, 7))(keras.Input((None, None, 5)))
    assert output.shape == (None, None, 105)


def test_a_patch_that_does_not_divide_the_image_is_refused():
    with pytest.raises(ValueError, match=r"must divide .* image_size=\(10, 15\), patch_size"):
        Patches(4)(keras.Input((10, 15, 3)))
