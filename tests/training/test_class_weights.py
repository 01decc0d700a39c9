import numpy as np
import pytest
import tensorflow as tf
from sklearn.utils.class_weight import compute_class_weight

from keras_vit.data import Classes, Tags
from keras_vit.training.class_weights import (
    check_class_weight,
    class_weights,
    presence_weights,
    weighted_batches,
)

TARGETS = Classes(("ant", "bat", "cat"), [0, 1, 1, 2, 2, 2, 2])


def test_balanced_weights_are_scikit_learns():
    expected = compute_class_weight("balanced", classes=np.arange(3), y=TARGETS.labels)
    np.testing.assert_allclose(class_weights("balanced", TARGETS), expected, rtol=1e-6)
    missing = class_weights("balanced", Classes(("a", "b"), [0, 0]))
    np.testing.assert_allclose(missing, [0.5, 1.0])


def test_weights_by_name():
    assert class_weights({"cat": 3, "ant": 0.5}, TARGETS).tolist() == [0.5, 1, 3]
    with pytest.raises(ValueError, match="there is not: 'bta'. Did you mean 'bat'.*: ant, bat"):
        class_weights({"bta": 2.0}, TARGETS)


def test_weights_of_what_an_image_has():
    tags = Tags(("ant", "bat", "cat"), [[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert presence_weights("balanced", tags).tolist() == pytest.approx([1 / 3, 3, 1])
    assert presence_weights({"bat": 4}, tags).tolist() == [1, 4, 1]
    with pytest.raises(ValueError, match="there is not: 'dog'"):
        presence_weights({"dog": 4}, tags)


def test_a_mixed_image_counts_as_it_is_mixed():
    labels = np.array([[1, 0, 0], [0, 0.25, 0.75]], "float32")
    batches = tf.data.Dataset.from_tensors((np.zeros((2, 1)), labels))
    ((_, _, weights),) = weighted_batches(batches, np.array([2, 4, 8], "float32"))
    assert weights.numpy().tolist() == [2, 7]


@pytest.mark.parametrize("value", [None, "balanced", {"cat": 0}])
def test_what_a_recipe_may_say(value):
    check_class_weight(value)


@pytest.mark.parametrize("value", ["even", {}, {"cat": True}, {"cat": "2"}, 3])
def test_what_it_may_not(value):
    with pytest.raises(ValueError, match="must be 'balanced', or a dict.* Received"):
        check_class_weight(value)
