import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data.augment import MixUp
from tests.data.augment.scene import keys

IMAGES = tf.random.stateless_normal([6, 3, 5, 1], [1, 2])
LABELS = tf.eye(6)


@pytest.mark.parametrize("per", ["batch", "example"])
def test_image_and_label_are_mixed_alike_with_the_one_before(per):
    images, labels = MixUp(0.8, per)(IMAGES, LABELS, keys(6))
    share = np.diag(labels)
    assert len(set(share.tolist())) == (1 if per == "batch" else 6)
    assert (share >= 0.5).all() and (share < 1).any()
    for i in range(6):
        expected = np.zeros(6)
        expected[i], expected[i - 1] = share[i], 1 - share[i]
        np.testing.assert_allclose(labels[i], expected, atol=1e-7)
        blend = share[i] * IMAGES[i] + (1 - share[i]) * IMAGES[i - 1]
        np.testing.assert_allclose(images[i], blend, atol=1e-6)


def test_by_hand(monkeypatch):
    monkeypatch.setattr("keras_vit.data.augment.mixup.beta", lambda keys, a: tf.constant([0.25]))
    images, labels = MixUp()(tf.reshape([8.0, 4.0, 0.0], [3, 1, 1, 1]), tf.eye(3), keys(3))
    assert images.numpy().ravel().tolist() == [6.0, 5.0, 1.0]
    assert labels.numpy().tolist() == [[0.75, 0, 0.25], [0.25, 0.75, 0], [0, 0.25, 0.75]]


def test_zero_mixes_nothing():
    images, labels = MixUp(0.0)(IMAGES, LABELS, keys(6))
    assert images is IMAGES and labels is LABELS
