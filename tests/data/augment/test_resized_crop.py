import numpy as np
import tensorflow as tf

from keras_vit.data.augment import ResizedCrop
from tests.data.augment.scene import keys

HIGH, WIDE = 800, 1000


@tf.function
def boxes(crop, size, seeds):
    return tf.map_fn(lambda key: crop.window(size, key), seeds, fn_output_signature=tf.int32)


def test_the_area_is_uniform_and_the_aspect_log_uniform():
    """Where every draw fits, so that none is thrown away: moments in closed form."""
    crop = ResizedCrop(area=(0.1, 0.5))
    drawn = boxes(crop, tf.constant([HIGH, WIDE]), keys(4000)).numpy()
    area, aspect = drawn[:, 2] * drawn[:, 3] / (HIGH * WIDE), drawn[:, 3] / drawn[:, 2]
    assert abs(area.mean() - 0.3) < 0.006 and abs(area.std() - 0.4 * 12**-0.5) < 0.004
    assert 0.099 < area.min() < 0.102 and 0.498 < area.max() < 0.501
    spread = np.log(aspect) / np.log(4 / 3)
    assert abs(spread.mean()) < 0.03 and abs(spread.std() - 3**-0.5) < 0.02
    for begin, size, whole in ((0, 2, HIGH), (1, 3, WIDE)):
        place = drawn[:, begin] / (whole - drawn[:, size])
        assert abs(place.mean() - 0.5) < 0.02 and abs(place.std() - 12**-0.5) < 0.01


def test_the_whole_image_can_be_drawn_and_the_share_that_is_thrown_away_is_torchvisions():
    drawn = boxes(ResizedCrop(), tf.constant([HIGH, WIDE]), keys(4000)).numpy()
    area = drawn[:, 2] * drawn[:, 3] / (HIGH * WIDE)
    rng = np.random.default_rng(5)
    target = rng.uniform(0.08, 1, 100_000) * HIGH * WIDE
    aspect = np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3), 100_000))
    height, width = np.round(np.sqrt(target / aspect)), np.round(np.sqrt(target * aspect))
    fits = (height <= HIGH) & (width <= WIDE)
    expected = (height * width)[fits] / (HIGH * WIDE)
    places = np.linspace(0.05, 0.95, 19)
    assert np.abs(np.quantile(area, places) - np.quantile(expected, places)).max() < 0.02


def test_a_strip_gives_its_middle():
    crop = ResizedCrop(area=(0.5, 1.0))
    for size, expected in (((30, 900), [0, 430, 30, 40]), ((900, 30), [430, 0, 40, 30])):
        assert crop.window(tf.constant(size), keys(1)[0]).numpy().tolist() == expected
