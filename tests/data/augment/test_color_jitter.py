import itertools

import numpy as np
import tensorflow as tf

from keras_vit.data.augment import ColorJitter, ops
from tests.data.augment.scene import IMAGES, keys


def test_nothing_to_do_is_nothing():
    image = IMAGES[0]
    assert ColorJitter(0.0, 0.0, 0.0)(image, keys(1)[0]) is image


def test_one_change_has_its_range_of_factors():
    """On a flat image the brightness can be read off."""
    flat = IMAGES[0] * 0 + 100
    part = ColorJitter(brightness=0.4, contrast=0.0, saturation=0.0)
    levels = np.array([part(flat, key)[0, 0, 0] for key in keys(100)])
    assert 60 <= levels.min() <= 63 and 136 <= levels.max() <= 140
    assert abs(levels.mean() - 99.5) < 4 * 80 / 12**0.5 / 100**0.5


def test_every_order_comes(monkeypatch):
    for number, name in enumerate(("brightness", "contrast", "color", "hue")):
        note = lambda image, factor, n=float(number): tf.concat([image, [n]], 0)  # noqa: E731
        monkeypatch.setattr(ops, name, note)
    part = ColorJitter(hue=0.1)
    run = lambda key: part(tf.zeros([0]), key)  # noqa: E731
    graph = tf.function(lambda seeds: tf.map_fn(run, seeds, fn_output_signature=tf.TensorSpec([4])))
    seen = graph(keys(400)).numpy()
    orders = {tuple(row) for row in seen.astype(int).tolist()}
    assert orders == set(itertools.permutations(range(4)))


def test_a_factor_never_falls_below_zero():
    part = ColorJitter(brightness=3.0, contrast=0.0, saturation=0.0)
    outs = np.stack([part(IMAGES[0], key) for key in keys(40)])
    assert outs.mean() > 100  # black only where the factor is next to 0
