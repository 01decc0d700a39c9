import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data.targets import Captions, Classes, Tags, Unlabelled

TAGS = [[0, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 0]]


def in_a_graph(targets, index):
    """What follows the images in a batch, for training and for evaluation."""

    @tf.function(autograph=False)
    def both(index):
        return targets.for_training(index), targets.for_evaluation(index)

    return both(tf.constant(index, tf.int64))


def test_one_class_an_image():
    targets = Classes(["cat", "dog"], [0, 1, 1])
    assert targets.class_names == ("cat", "dog") and targets.class_sizes.tolist() == [1, 2]
    (one_hot,), (labels,) = in_a_graph(targets, [2, 0])
    np.testing.assert_array_equal(one_hot, [[0.0, 1.0], [1.0, 0.0]])
    assert one_hot.dtype == tf.float32 and labels.numpy().tolist() == [1, 0]
    assert targets.select([2, 0]).labels.tolist() == [1, 0]
    with pytest.raises(ValueError, match="read-only"):
        targets.labels[0] = 1


def test_several_classes_an_image():
    targets = Tags("abc", TAGS)
    assert targets.class_sizes.tolist() == [1, 3, 1]
    (training,), (evaluation,) = in_a_graph(targets, [2, 0])
    np.testing.assert_array_equal(training, [[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(evaluation, training)
    assert targets.select([1, 2]).labels.tolist() == [TAGS[1], TAGS[2]]
    assert targets.groups.tolist() == [1, 3, 0, 1]  # the rarest class; 3 for none
    of = Tags.of("abc", [[1], [], [2, 0, 1], [1]])
    np.testing.assert_array_equal(of.labels, TAGS)


def test_no_labels():
    targets = Unlabelled(4)
    assert in_a_graph(targets, [2, 0]) == ((), ())
    assert targets.class_names == () and len(targets.class_sizes) == 0
    assert len(targets.select([1, 3])) == 2 and targets.groups.tolist() == [0] * 4


def test_captions():
    targets = Captions(["a cat", "Zürich 日本", "\udcff"])  # the last as in a file name
    (texts,), _ = in_a_graph(targets, [1, 2])
    assert texts.numpy().tolist() == ["Zürich 日本".encode(), b"\\udcff"]
    assert targets.select([2, 0]).texts == ("\udcff", "a cat")


def test_digests_differ():
    base = [Classes("ab", [0, 1]), Classes("ab", [1, 0]), Classes("ac", [0, 1])]
    base += [Tags("ab", [[0, 1], [1, 1]]), Tags("ab", [[1, 1], [0, 1]]), Unlabelled(2)]
    base += [Captions(["a", "b"]), Captions(["b", "a"])]
    assert len({targets.digest() for targets in base}) == len(base)


def test_labels_are_checked():
    with pytest.raises(ValueError, match=r"`labels` must be in \[0, 2\).*Received: 0 to 2"):
        Classes("ab", [0, 2])
    with pytest.raises(ValueError, match=r"one column a class name.*\(4, 3\), 2 class names"):
        Tags("ab", TAGS)
    with pytest.raises(ValueError, match="must be 0 or 1"):
        Tags("ab", [[0, 2]])
