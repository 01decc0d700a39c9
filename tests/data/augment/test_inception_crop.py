import numpy as np
import tensorflow as tf

from keras_vit.data.augment import InceptionCrop, inception_box
from tests.data.augment.scene import keys

SIZE = (800, 1000)


@tf.function
def boxes(crop, seeds):
    draw = lambda key: crop.window(tf.constant(SIZE), key)  # noqa: E731
    return tf.map_fn(draw, seeds, fn_output_signature=tf.int32)


def test_area_and_aspect_are_in_range():
    drawn = boxes(InceptionCrop(area=(0.2, 0.5)), keys(200)).numpy()
    area, aspect = drawn[:, 2] * drawn[:, 3] / 800_000, drawn[:, 3] / drawn[:, 2]
    assert 0.199 < area.min() < 0.21 and 0.48 < area.max() < 0.501
    assert 0.748 < aspect.min() < 0.77 and 1.3 < aspect.max() < 1.336


def test_the_distribution_is_that_of_the_original_rule():
    """The aspect is uniform, then the height is uniform in what area and image allow; a draw is
    made anew where nothing is allowed. Simulated in numpy.
    """
    rng = np.random.default_rng(3)
    aspect = rng.uniform(3 / 4, 4 / 3, 200_000)
    high, wide = SIZE
    least = np.round(np.sqrt(0.05 * high * wide / aspect))
    most = np.round(np.sqrt(high * wide / aspect))
    most = np.minimum(np.where(np.round(most * aspect) > wide, wide / aspect, most), high)
    heights = np.floor(rng.uniform(least, most + 1))
    area = heights * np.round(heights * aspect) / (high * wide)
    drawn = boxes(InceptionCrop(), keys(4000)).numpy()
    ours = drawn[:, 2] * drawn[:, 3] / (high * wide)
    places = np.linspace(0.05, 0.95, 19)
    apart = np.abs(np.quantile(ours, places) - np.quantile(area, places)).max()
    assert apart < 0.02, apart  # a uniform area would be 0.1 apart
    assert abs(np.mean(drawn[:, 3] / drawn[:, 2]) - aspect.mean()) < 0.01
    top = drawn[:, 0] / np.maximum(high - drawn[:, 2], 1)
    assert abs(top.mean() - 0.5) < 0.02 and abs(top.std() - 12**-0.5) < 0.02


def test_a_box_is_a_function_of_shape_and_seed():
    shape, two = tf.constant([80, 100, 3]), keys(2)
    first, again, other = (inception_box(shape, two[i]).numpy().tolist() for i in (0, 0, 1))
    assert first == again != other
