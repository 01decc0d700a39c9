import numpy as np
import tensorflow as tf

from keras_vit.data.augment import RandomErasing
from tests.data.augment.scene import keys


def test_the_boxes_follow_timms_rule():
    """Area uniform, logarithm of the aspect uniform, drawn anew where it does not fit."""
    high, wide = 400, 500
    drawn = RandomErasing().boxes((high, wide), keys(4000))
    top, left, height, width, fits = (value.numpy() for value in drawn)
    assert fits.all() and (height < high).all() and (width < wide).all()
    rng = np.random.default_rng(3)
    area = rng.uniform(0.02, 1 / 3, 100_000) * high * wide
    aspect = np.exp(rng.uniform(np.log(0.3), -np.log(0.3), 100_000))
    h, w = np.round(np.sqrt(area * aspect)), np.round(np.sqrt(area / aspect))
    ok = (h < high) & (w < wide)
    places = np.linspace(0.05, 0.95, 19)
    for ours, theirs in ((height * width, h * w), (height / width, h / w)):
        ours, theirs = np.quantile(np.log(ours), places), np.quantile(np.log(theirs[ok]), places)
        assert np.abs(ours - theirs).max() < 0.1
    for place, room in ((top, high - height), (left, wide - width)):
        assert (place <= room).all() and abs(np.mean(place / room) - 0.5) < 0.02


def test_a_quarter_is_erased_with_normal_noise_in_a_rectangle():
    images = tf.fill([400, 23, 29, 3], 7.0)
    out = RandomErasing()(images, keys(400)).numpy()
    changed = (out != 7).all(axis=-1)
    np.testing.assert_array_equal(changed, (out != 7).any(axis=-1))
    erased = changed.any(axis=(1, 2))
    assert abs(erased.mean() - 0.25) < 0.08
    for mask in changed[erased]:
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        assert mask.sum() == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    noise = out[changed]
    assert abs(noise.mean()) < 0.02 and abs(noise.std() - 1) < 0.02
    assert abs(np.corrcoef(noise.T) - np.eye(3)).max() < 0.03
    pictures = [image[mask][:5].tobytes() for image, mask in zip(out, changed, strict=True)]
    assert len(set(pictures)) == erased.sum() + 1  # no two alike, and those that are not erased


def test_what_never_fits_is_left():
    out = RandomErasing(probability=1.0, area=(1.0, 1.0))(tf.ones([5, 8, 8, 1]), keys(5))
    assert (out.numpy() == 1).all()
