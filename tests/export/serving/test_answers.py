"""What is said of logits, against numpy."""

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.export.serving.answers import answers, class_names, without
from keras_vit.layers import Preprocessing

LOGITS = np.array([[0.5, 3.0, -1.0, 2.0, 1.0, -2.0, 0.0], [9.0, 0, 1, 2, 3, 4, 5]], "float32")
NAMES = ["apple", "bear", "cöd", "dog", "elk", "fox", "gnu"]


def test_the_best_classes_come_with_names_and_scores():
    found = {key: tensor.numpy() for key, tensor in answers(tf.constant(LOGITS), NAMES).items()}
    order = np.argsort(-LOGITS, axis=-1)[:, :5]
    shares = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=-1, keepdims=True)
    np.testing.assert_array_equal(found["classes"], order)
    assert found["classes"].dtype == np.int64
    assert [name.decode() for name in found["labels"][0]] == [NAMES[index] for index in order[0]]
    np.testing.assert_allclose(found["probabilities"], shares, rtol=1e-6)
    np.testing.assert_allclose(found["scores"], np.take_along_axis(shares, order, -1), rtol=1e-6)
    assert found["error"].tolist() == [b"", b""]


def test_a_model_for_several_classes_an_image_gives_each_its_own_probability():
    found = answers(tf.constant(LOGITS), NAMES, "sigmoid")["probabilities"].numpy()
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-LOGITS)), rtol=1e-6)


@pytest.mark.parametrize("count", [1, 3])
def test_few_classes_are_all_given(count):
    found = answers(tf.constant(LOGITS)[:, :count], NAMES[:count])
    assert found["classes"].shape == found["labels"].shape == found["scores"].shape == (2, count)


def test_answers_are_taken_back_where_nothing_could_be_read():
    found = without(answers(tf.constant(LOGITS), NAMES), tf.constant([False, True]), "broken")
    for key in ("logits", "probabilities", "scores"):
        assert not found[key][0].numpy().any() and found[key][1].numpy().any()
    assert found["classes"][0].numpy().tolist() == [-1] * 5
    assert found["labels"].numpy()[:, 0].tolist() == [b"", b"apple"]
    assert found["error"].numpy().tolist() == [b"broken", b""]


def test_classes_without_names_are_called_by_their_numbers():
    assert class_names(Preprocessing(image_size=8), 3) == ["0", "1", "2"]
    assert class_names(Preprocessing(image_size=8, class_names=NAMES[:2]), 2) == NAMES[:2]
