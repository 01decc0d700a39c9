import numpy as np
import pytest
import tensorflow as tf
from PIL import ImageOps

from keras_vit.data.augment import ops
from tests.data.augment.ops.pillow import PICTURES, array_of, image_of


def lighter(image, addition):
    """timm's `solarize_add`, as a table."""
    table = [min(255, i + addition) if i < 128 else i for i in range(256)]
    return image.point(table * len(image.getbands()))


CASES = [
    (ops.invert, ImageOps.invert, ()),
    (ops.autocontrast, ImageOps.autocontrast, ()),
    (ops.equalize, ImageOps.equalize, ()),
    *((ops.posterize, ImageOps.posterize, (bits,)) for bits in (1, 4, 7, 8)),
    *((ops.solarize, ImageOps.solarize, (threshold,)) for threshold in (0, 26, 128, 255, 256)),
    *((ops.solarize_add, lighter, (addition,)) for addition in (0, 33, 110, 128)),
]


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize(
    "ours, theirs, told", CASES, ids=lambda value: getattr(value, "__name__", value)
)
def test_every_pixel_is_pillows(picture, ours, theirs, told):
    image = PICTURES[picture]
    expected = array_of(theirs(image_of(image), *told))
    out = ours(tf.constant(image), *told)
    assert out.dtype == "uint8" and out.shape == image.shape
    np.testing.assert_array_equal(out, expected)


def test_no_bit_is_black():
    assert not ops.posterize(tf.constant(PICTURES["noise"]), 0).numpy().any()
