import re

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data.augment.levels import AUTO_AUGMENT, BIG_VISION, TIMM
from tests.data.augment import fixture

AT = tf.constant(fixture.TIMM["at"], tf.float32)


def ours_for(name):
    """Our name for one of timm's: `PosterizeIncreasing` -> `posterize`."""
    name = re.sub("(Increasing|Original|Rel)$", "", name)
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower().replace("auto_contrast", "autocontrast")


@pytest.mark.parametrize(
    "table, theirs", [(TIMM, "rand_augment"), (AUTO_AUGMENT, "auto_augment")], ids=["rand", "auto"]
)
def test_every_level_is_timms(table, theirs):
    names = {ours_for(name): rows for name, rows in fixture.TIMM[theirs].items()}
    assert set(names) == set(table)
    for name, rows in names.items():
        for sign, expected in zip((1.0, -1.0), rows, strict=True):
            if table[name] is None:
                assert set(expected) == {None}
            else:
                told = np.broadcast_to(table[name](AT, sign), AT.shape)
                np.testing.assert_allclose(told, expected, rtol=1e-6, atol=1e-6, err_msg=name)


def test_rand_augment_has_timms_order():
    assert [ours_for(name) for name in fixture.TIMM["rand_augment"]] == list(TIMM)


# By hand, from big_vision's formulas at `randaug(2, m)`, for the sign 1.
BY_HAND = {
    0: {"rotate": 0, "posterize": 1, "solarize": 0, "color": 0.1, "shear_x": 0, "cutout": 0},
    10: {"rotate": 30, "posterize": 4, "solarize": 0, "color": 1.9, "solarize_add": 110},
    15: {"rotate": 45, "posterize": 6, "solarize": 128, "contrast": 2.8, "shear_y": 0.45},
    20: {"rotate": 60, "posterize": 8, "brightness": 3.7, "sharpness": 3.7, "solarize_add": 220},
    5: {"posterize": 2, "solarize": 128, "solarize_add": 55, "shear_x": 0.15},
}
PIXELS_OF_224 = {10: {"translate_x": 100, "cutout": 40}, 15: {"translate_y": 150, "cutout": 60}}


@pytest.mark.parametrize("level", BY_HAND)
def test_big_visions_levels(level):
    told = {name: BIG_VISION[name](tf.constant(float(level)), 1.0) for name in BY_HAND[level]}
    assert {name: float(value) for name, value in told.items()} == pytest.approx(BY_HAND[level])
    for name, pixels in PIXELS_OF_224.get(level, {}).items():
        assert 224 * float(BIG_VISION[name](float(level), 1.0)) == pytest.approx(pixels)


def test_big_visions_set():
    assert len(BIG_VISION) == 16
    assert float(BIG_VISION["rotate"](10.0, -1.0)) == -float(BIG_VISION["rotate"](10.0, 1.0))
