import keras
import numpy as np
import pytest

from keras_vit.layers.anchors import anchor_boxes, boxes_of_deltas, deltas_of_boxes, overlaps


def test_anchors_stand_on_the_middle_of_their_cells():
    anchors = anchor_boxes((32, 64), (3, 4), scales=2, aspects=(0.5, 1.0, 2.0), size=3.0)
    assert anchors.shape == ((4 * 8 + 2 * 4) * 6, 4) and anchors.dtype == "float32"
    pixels = anchors * [64, 32, 64, 32]
    first = pixels[:6]
    np.testing.assert_allclose((first[:, :2] + first[:, 2:]) / 2, 6 * [[4, 4]], atol=1e-5)
    wide, high = (first[:, 2:] - first[:, :2]).T
    # Two scales of each of three shapes, each shape of the same area.
    np.testing.assert_allclose(wide * high, 3 * [24**2, 2 * 24**2], rtol=1e-5)
    np.testing.assert_allclose(high / wide, [0.5, 0.5, 1, 1, 2, 2], rtol=1e-5)
    # Row by row: the ninth cell is the first of the second row.
    np.testing.assert_allclose(pixels[8 * 6 : 9 * 6].mean(axis=0)[1::2].mean(), 12, rtol=1e-5)


def test_the_last_cell_may_lie_partly_outside():
    assert len(anchor_boxes((40, 40), (4, 4), scales=1, aspects=(1.0,))) == 9


def test_deltas_and_boxes_are_each_others_reverse():
    anchors = anchor_boxes((32, 64), (3, 3), scales=1)
    corners = np.sort(np.random.default_rng(0).uniform(size=(3, len(anchors), 2, 2)), axis=2)
    boxes = corners.reshape(3, -1, 4).astype("float32")
    back = boxes_of_deltas(deltas_of_boxes(keras.ops.convert_to_tensor(boxes), anchors), anchors)
    np.testing.assert_allclose(back, boxes, atol=1e-5)


def test_no_box_has_no_deltas_and_large_ones_stay_in_the_image():
    anchors = anchor_boxes((16, 16), (3, 3), scales=1, aspects=(1.0,))
    zeros = keras.ops.zeros((len(anchors), 4))
    assert not np.asarray(deltas_of_boxes(zeros, anchors)).any()
    far = np.asarray(boxes_of_deltas(zeros + 1000.0, anchors))
    assert np.isfinite(far).all() and far.min() >= 0 and far.max() <= 1


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ([0.0, 0.0, 0.5, 0.5], 1.0),
        ([0.25, 0.0, 0.75, 0.5], 1 / 3),
        ([0.5, 0.5, 1.0, 1.0], 0.0),
        ([0.2, 0.2, 0.2, 0.4], 0.0),
    ],
)
def test_overlaps_by_hand(other, expected):
    box = np.array([[0.0, 0.0, 0.5, 0.5]], "float32")
    found = overlaps(box, np.array([other], "float32"))
    np.testing.assert_allclose(found, [[expected]], atol=1e-6)
