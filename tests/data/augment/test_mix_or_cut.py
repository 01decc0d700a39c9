import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data.augment import MixOrCut, smoothed
from keras_vit.data.augment.mix_or_cut import cut_boxes, inside
from tests.data.augment.fixture import TIMM
from tests.data.augment.scene import keys

# Values tell image and pixel apart.
IMAGES = tf.reshape(tf.range(6 * 31 * 23, dtype=tf.float32), [6, 31, 23, 1])
LABELS = tf.eye(6)


def test_boxes_and_shares_are_timms():
    high, wide = TIMM["size"]
    for share, (row, column), expected, left in TIMM["boxes"]:
        centre = [[(row + 0.5) / high, (column + 0.5) / wide]]
        box = cut_boxes(tf.constant([share]), tf.constant(centre), (high, wide))
        assert box[0].numpy().tolist() == expected
        mask = inside(box, (high, wide))[0].numpy()
        assert 1 - mask.mean() == pytest.approx(left)
        top, bottom, first, last = expected
        assert mask[top:bottom, first:last].all() and mask.sum() == (bottom - top) * (last - first)


def test_a_box_by_hand():
    """A quarter of 8 x 12 stays three quarters: half a side each way, about row 6, column 3."""
    box = cut_boxes(tf.constant([0.75]), tf.constant([[6 / 8, 3 / 12]]), (8, 12))
    assert box.numpy().tolist() == [[4, 8, 0, 6]]
    box = cut_boxes(tf.constant([0.75]), tf.constant([[0.0, 0.99]]), (8, 12))
    assert box.numpy().tolist() == [[0, 2, 8, 12]]  # cut off at two borders: 8 of 96 pixels


@pytest.mark.parametrize("per", ["batch", "example"])
def test_cutmix_pastes_a_rectangle_of_the_other_end(per):
    images, labels = MixOrCut(mixup=0.0, per=per)(IMAGES, LABELS, keys(6))
    shares = set()
    for i in range(6):
        image, other = images[i, ..., 0].numpy(), IMAGES[5 - i, ..., 0].numpy()
        pasted = image == other
        np.testing.assert_array_equal(image[~pasted], IMAGES[i, ..., 0].numpy()[~pasted])
        rows, columns = np.flatnonzero(pasted.any(1)), np.flatnonzero(pasted.any(0))
        assert pasted.sum() == len(rows) * len(columns)
        expected = np.zeros(6)
        expected[i], expected[5 - i] = 1 - pasted.mean(), pasted.mean()
        np.testing.assert_allclose(labels[i], expected, atol=1e-6)
        shares.add(round(float(pasted.mean()), 6))
    assert len(shares) == (1 if per == "batch" else 6)


def test_mixup_blends_with_the_other_end():
    images, labels = MixOrCut(cutmix=0.0)(IMAGES, LABELS, keys(6, seed=4))
    share = float(labels[0, 0])
    assert 0 < share < 1
    expected = share * IMAGES.numpy() + (1 - share) * IMAGES.numpy()[::-1]
    np.testing.assert_allclose(images, expected, rtol=1e-5)
    np.testing.assert_allclose(labels, share * np.eye(6) + (1 - share) * np.eye(6)[::-1], atol=1e-6)


def test_it_switches_half_of_the_times():
    cuts = 0
    part = tf.function(MixOrCut(), autograph=False)
    for number in range(100):
        images, _ = part(IMAGES, LABELS, keys(200)[2 * number : 2 * number + 6])
        cuts += bool(np.isin(images[0], IMAGES).all())
    assert 33 <= cuts <= 67  # three and a half deviations


def test_smoothed_first_then_mixed():
    """timm's targets for the classes 2 and 0 of 4, a smoothing of 0.1 and a share of 0.7."""
    targets = smoothed(tf.one_hot([2, 0], 4), 0.1)
    mixed = 0.7 * targets + 0.3 * targets[::-1]
    np.testing.assert_allclose(mixed, TIMM["targets"], atol=1e-7)


def test_odd_batches_leave_the_middle():
    images, labels = MixOrCut()(IMAGES[:5], LABELS[:5], keys(5))
    np.testing.assert_allclose(images[2], IMAGES[2], rtol=1e-6)
    np.testing.assert_allclose(labels[2], LABELS[2], atol=1e-6)


def test_neither():
    with pytest.raises(ValueError, match="`mixup` or `cutmix` must be above 0"):
        MixOrCut(0.0, 0.0)
