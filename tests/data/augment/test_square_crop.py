import tensorflow as tf

from keras_vit.data.augment import SquareCrop
from tests.data.augment.scene import KEYS


def test_it_is_a_square_anywhere():
    drawn = [SquareCrop().window(tf.constant([32, 40]), key).numpy().tolist() for key in KEYS]
    assert {tuple(box[2:]) for box in drawn} == {(27, 27)}
    assert {box[0] for box in drawn} == set(range(6))
    assert {box[1] for box in drawn} == set(range(14))
