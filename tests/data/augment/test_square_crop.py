import tensorflow as tf

from keras_vit.data.augment import SquareCrop
from tests.data.augment.scene import KEYS


def test_it_is_a_square_anywhere():
    drawn = [SquareCrop().window(tf.constant([32, 40]), key).numpy().tolist() for key in KEYS]
    assert {tuple(box[2:]) for box in drawn} == {(27, 27)}
    assert {box[0] for box in drawn} == set(range(6))
    assert {box[1] for box in drawn} == set(range(14))


def test_of_two_shares_the_short_side_is_resized_to_anything_between():
    """224 of 256 to 320 pixels: the side of the resized picture is uniform, not the share."""
    part, keys = SquareCrop((224 / 320, 224 / 256)), [[number, 5] for number in range(60)]
    keys = tf.constant(keys, tf.int64)
    sides = tf.map_fn(lambda key: part.window(tf.constant([1000, 1400]), key)[2], keys, tf.int32)
    resized = 224_000 / sides.numpy()
    assert 255.9 <= resized.min() < 265 and 311 < resized.max() <= 320.3
    assert abs(resized.mean() - 288) < 8
