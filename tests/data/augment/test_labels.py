import numpy as np
import tensorflow as tf

from keras_vit.data.augment import AnyLabel, smoothed


def test_smoothing_by_hand():
    expected = [[0.05, 0.05, 0.85, 0.05]]
    np.testing.assert_allclose(smoothed(tf.constant([[0.0, 0, 1, 0]]), 0.2), expected, atol=1e-7)


def test_any_label():
    images, labels = AnyLabel()(None, tf.constant([[0.0, 0.3, 0.7]]), None)
    assert images is None and labels.numpy().tolist() == [[0.0, 1.0, 1.0]]
