import numpy as np
import pytest

from keras_vit.layers import Patches
from tests.layers.arrays import arrays
from tests.oracles import vit_numpy


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 13])
@pytest.mark.parametrize(
    ("image_size", "patch_size"),
    [((6, 6), 2), ((6, 15), (2, 3)), ((10, 3), (5, 3)), ((7, 11), 1), ((4, 6), (4, 6))],
)
def test_against_numpy(image_size, patch_size, channels):
    (images,) = arrays((2, *image_size, channels))
    layer = Patches(patch_size)
    expected = vit_numpy.patches(images, layer.patch_size)
    np.testing.assert_array_equal(layer(images), expected)
    rows, columns = layer.grid(image_size)
    assert expected.shape[1] == rows * columns


def test_the_order_inside_a_patch_is_that_of_a_convolution_kernel():
    import keras

    (images,) = arrays((2, 6, 15, 5))
    convolution = keras.layers.Conv2D(7, (2, 3), strides=(2, 3))
    expected = np.reshape(convolution(images), (2, 15, 7))
    kernel, bias = (np.asarray(weight) for weight in convolution.get_weights())
    ours = np.asarray(Patches((2, 3))(images)) @ kernel.reshape(30, 7) + bias
    np.testing.assert_allclose(ours, expected, atol=1e-5)


def test_any_image_size():
    import keras

    inputs = keras.Input((None, None, 3))
    model = keras.Model(inputs, Patches((2, 3))(inputs))
    assert model.output_shape == (None, None, 18)
    for size in ((6, 15), (4, 9)):
        (images,) = arrays((2, *size, 3))
        np.testing.assert_array_equal(model(images), vit_numpy.patches(images, (2, 3)))


@pytest.mark.parametrize("image_size", [(7, 15), (6, 16)])
def test_the_patch_must_divide_the_image(image_size):
    message = "`patch_size` must divide `image_size`. Received: image_size="
    for use in (
        lambda: Patches((2, 3)).grid(image_size),
        lambda: Patches((2, 3)).compute_output_shape((None, *image_size, 3)),
        lambda: Patches((2, 3))(np.zeros((1, *image_size, 3), "float32")),
    ):
        with pytest.raises(ValueError) as caught:
            use()
        assert f"{message}{image_size}, patch_size=(2, 3)." in str(caught.value)


def test_images_must_have_four_axes():
    with pytest.raises(ValueError, match=r"`images` must have the shape \[b, h, w, c\]"):
        Patches(2)(np.zeros((6, 6, 3), "float32"))
