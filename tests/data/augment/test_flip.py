import numpy as np
import tensorflow as tf

from keras_vit.data.augment import Flip
from tests.data.augment.scene import IMAGES, KEYS


def test_it_mirrors_about_half():
    out = Flip()(IMAGES, KEYS).numpy()
    mirrored = (out == IMAGES.numpy()[:, :, ::-1]).all(axis=(1, 2, 3))
    same = (out == IMAGES.numpy()).all(axis=(1, 2, 3))
    assert (mirrored ^ same).all()
    assert 16 <= mirrored.sum() <= 48  # four standard deviations of 64 coins


def test_an_image_alone_is_mirrored_as_in_its_batch():
    out, alone = Flip()(IMAGES, KEYS), Flip()
    for number in range(4):
        np.testing.assert_array_equal(alone(IMAGES[number], KEYS[number]), out[number])
    grey = tf.cast(IMAGES[..., :1], tf.float32)
    np.testing.assert_array_equal(Flip(1.0)(grey, KEYS), grey.numpy()[:, :, ::-1])
