import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data.augment import ops
from keras_vit.data.augment.levels import BIG_VISION, TIMM
from keras_vit.data.augment.policy import Moves, change
from keras_vit.data.order import uniform
from tests.data.augment.scene import IMAGES, KEYS

MOVES = Moves((1, 2, 3), "nearest")


def made(name, level, levels, image=IMAGES[0], key=KEYS[3]):
    which = list(levels).index(name)
    return change(image, which, tf.constant(level, tf.float32), key, levels, MOVES).numpy()


@pytest.mark.parametrize("name", TIMM)
def test_each_change_is_its_op_at_its_level(name):
    """KEYS[3] draws the sign that is tested for here."""
    sign = 1.0 if uniform(KEYS[3], 1)[0] < 0.5 else -1.0
    told = () if TIMM[name] is None else (TIMM[name](tf.constant(7.0), sign),)
    moving = name.startswith(("rotate", "shear", "translate"))
    expected = getattr(ops, name)(IMAGES[0], *told, *((MOVES.fill, "nearest") if moving else ()))
    np.testing.assert_array_equal(made(name, 7.0, TIMM), expected)
    assert (expected.numpy() != IMAGES[0].numpy()).any() or name == "autocontrast"


def test_one_more_than_there_are_changes_nothing():
    out = change(IMAGES[0], len(TIMM), tf.constant(9.0), KEYS[0], TIMM, MOVES)
    np.testing.assert_array_equal(out, IMAGES[0])


def test_signs_and_places_of_cutouts_differ_from_image_to_image():
    turned = [made("shear_x", 9.0, TIMM, key=key) for key in KEYS]
    first = [(image == turned[0]).all() for image in turned]
    assert 16 <= sum(first) <= 48 and len({image.tobytes() for image in turned}) == 2
    holes = [made("cutout", 10.0, BIG_VISION, IMAGES[0] * 0 + 9, key=key) for key in KEYS]
    assert len({image.tobytes() for image in holes}) > 50
    # 40 pixels of 224 each way are 3 of 16.
    assert max((image != 9).all(axis=-1).sum() for image in holes) == 36
