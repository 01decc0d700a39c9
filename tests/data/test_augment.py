import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import AUGMENTATIONS
from keras_vit.data.augment import Flip, InceptionCrop, Shift, augmentations
from keras_vit.data.order import example
from tests.data.pictures import noise

IMAGES = tf.constant(noise(64, 16, 24, 3))
KEYS = example(tf.range(64, dtype=tf.int64), seed=2, n=64)[1]
FITTED = [name for name, part in AUGMENTATIONS.items() if part.stage == "fitted"]


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_a_batch_equals_its_images_one_by_one(name, dtype):
    part = AUGMENTATIONS[name]
    images = tf.cast(IMAGES[:5], dtype)
    batch = part(images, KEYS[:5])
    assert batch.dtype == dtype and batch.shape == images.shape
    for image, key, expected in zip(images, KEYS[:5], batch, strict=True):
        np.testing.assert_array_equal(part(image, key), expected)


@pytest.mark.parametrize("name", FITTED)
def test_static_shape_survives_a_graph(name):
    spec = tf.TensorSpec([None, 16, 24, 3], tf.uint8)
    graph = tf.function(AUGMENTATIONS[name]).get_concrete_function(
        spec, tf.TensorSpec([None, 2], tf.int64)
    )
    assert graph.structured_outputs.shape.as_list() == [None, 16, 24, 3]


def test_flip_mirrors_about_half():
    out = Flip()(IMAGES, KEYS).numpy()
    mirrored = (out == IMAGES.numpy()[:, :, ::-1]).all(axis=(1, 2, 3))
    same = (out == IMAGES.numpy()).all(axis=(1, 2, 3))
    assert (mirrored ^ same).all()
    assert 16 <= mirrored.sum() <= 48  # four standard deviations of 64 coins


@pytest.mark.parametrize("fill", ["zero", "edge"])
def test_shift_is_numpys_pad_and_cut(fill):
    images = IMAGES.numpy()
    out = Shift(fill=fill)(IMAGES, KEYS).numpy()
    down, right = 2, 3  # an eighth of 16 and of 24
    mode = {"zero": "constant", "edge": "edge"}[fill]
    padded = np.pad(images, [(0, 0), (down, down), (right, right), (0, 0)], mode)
    moves = [(y, x) for y in range(2 * down + 1) for x in range(2 * right + 1)]
    found = []
    for image, wide in zip(out, padded, strict=True):
        found += [m for m in moves if (wide[m[0] : m[0] + 16, m[1] : m[1] + 24] == image).all()]
    assert len(found) == 64
    assert {y for y, _ in found} == set(range(5)) and {x for _, x in found} == set(range(7))


def test_shift_of_less_than_a_pixel_changes_nothing():
    np.testing.assert_array_equal(Shift(share=1 / 32)(IMAGES, KEYS), IMAGES)


def test_inception_crop_is_a_part_with_area_and_aspect_in_range():
    image = np.arange(80 * 100, dtype="int64").reshape(80, 100, 1)
    crop = tf.function(InceptionCrop(area=(0.2, 0.5)))
    areas = []
    for key in KEYS[:40]:
        part = crop(tf.constant(image), key).numpy()[..., 0]
        height, width = part.shape
        top, left = divmod(int(part[0, 0]), 100)
        np.testing.assert_array_equal(part, image[top : top + height, left : left + width, 0])
        areas.append(height * width / 8000)
        assert 0.7 < width / height < 1.4  # 3/4 to 4/3 but for whole pixels
    assert 0.19 < min(areas) < 0.26 and 0.44 < max(areas) < 0.51


def test_inception_crop_of_one_pixel():
    assert InceptionCrop()(IMAGES[0, :1, :1], KEYS[0]).shape == (1, 1, 3)


def test_inception_crop_is_repeatable_and_differs():
    first, again, other = (InceptionCrop()(IMAGES[0], KEYS[i]) for i in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or bool(tf.reduce_any(first != other))


def test_names_are_checked():
    assert augmentations(("flip", Shift())) == (Flip(), Shift())
    with pytest.raises(ValueError, match="`augment` must be of .*'flip'.*Received: 'flop'"):
        augmentations(("flop",))
    with pytest.raises(ValueError, match="`fill` must be one of .*Received: 'mirror'"):
        Shift(fill="mirror")
