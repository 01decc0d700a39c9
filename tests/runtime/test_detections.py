import numpy as np
import pytest
import tensorflow as tf

from keras_vit.runtime.detections import Detections, detections


def random_answers(seed, count=60, classes=3):
    random = np.random.default_rng(seed)
    corners = random.uniform(0, 0.6, (count, 2))
    boxes = np.concatenate([corners, corners + random.uniform(0.1, 0.4, (count, 2))], axis=1)
    return boxes.astype("float32"), random.uniform(0, 1, (count, classes)).astype("float32")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [5, 100])
def test_as_tensorflow(seed, most):
    """TensorFlow's own op, which suppresses each class by itself too."""
    boxes, scores = random_answers(seed)
    found = detections(boxes, scores, least=0.3, same=0.4, most=most)
    theirs = tf.image.combined_non_max_suppression(
        boxes[None, :, None], scores[None], most, most, 0.4, 0.3, clip_boxes=False
    )
    count = int(theirs.valid_detections[0])
    assert len(found) == count > 0
    np.testing.assert_allclose(found.scores, theirs.nmsed_scores[0][:count])
    np.testing.assert_allclose(found.boxes, theirs.nmsed_boxes[0][:count])
    np.testing.assert_array_equal(found.labels, theirs.nmsed_classes[0][:count])


def test_a_box_of_another_class_stays():
    boxes = np.array([[0, 0, 0.5, 0.5]] * 2)
    found = detections(boxes, np.array([[0.9, 0.0], [0.0, 0.8]]))
    assert found.labels.tolist() == [0, 1]
    assert found.above(0.85).labels.tolist() == [0]


def test_nothing_found():
    found = detections(np.zeros((4, 4)), np.zeros((4, 2)))
    assert isinstance(found, Detections) and len(found) == 0 and found.boxes.shape == (0, 4)


@pytest.mark.parametrize("wrong", [{"least": -0.1}, {"same": 1.5}, {"most": 0}])
def test_wrong_thresholds(wrong):
    with pytest.raises(ValueError, match="must be in \\[0, 1\\], and `most` at least 1"):
        detections(np.zeros((1, 4)), np.zeros((1, 1)), **wrong)
