import pytest
import tensorflow as tf
from PIL import ImageFilter

from keras_vit.data.augment import ops
from tests.data.augment.ops.pillow import PICTURES, apart, array_of, image_of


@pytest.mark.parametrize("picture", ["noise", "waves", "grey"])
@pytest.mark.parametrize("radius", [0.1, 0.5, 0.7, 1.3, 2.0])
def test_it_is_pillows(picture, radius):
    """A level apart where one of the six roundings falls the other way."""
    image = PICTURES[picture]
    expected = array_of(image_of(image).filter(ImageFilter.GaussianBlur(radius)))
    out = ops.gaussian_blur(tf.constant(image), radius)
    assert out.dtype == "uint8" and out.shape == image.shape
    assert apart(out, expected) <= 1
