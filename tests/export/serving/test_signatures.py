"""What a served model offers, and what it says about what it does not."""

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.export.serving.examples import as_inputs

ANSWERS = {"logits", "probabilities", "classes", "labels", "scores", "error"}


@pytest.fixture(scope="module")
def served(artefacts):
    return tf.saved_model.load(str(artefacts["server"]))


def test_pixels_pictures_and_examples_get_one_answer(artefacts, served):
    images = artefacts.pixels[:3]
    expected = served.signatures["serving_default"](images=tf.constant(images, tf.float32))
    assert set(expected) == ANSWERS
    for name, inputs in (
        ("serving_uint8", {"images": tf.constant(images)}),
        ("serving_bytes", {"image_bytes": as_inputs("image_bytes", "string", images)}),
    ):
        found = served.signatures[name](**inputs)
        assert set(found) == ANSWERS
        np.testing.assert_allclose(found["logits"], expected["logits"], rtol=1e-6)
        assert (found["labels"].numpy() == expected["labels"].numpy()).all()
    found = served.signatures["classify"](inputs=as_inputs("inputs", "string", images))
    assert (found["classes"].numpy() == expected["labels"].numpy()).all()
    np.testing.assert_allclose(found["scores"], expected["scores"], rtol=1e-5)


def test_features_are_the_models(artefacts, served):
    images = artefacts.pixels[:2]
    model = artefacts.model
    found = served.signatures["features"](images=tf.constant(images, tf.float32))
    expected = model.features(model.preprocessing.normalize(images))
    assert set(found) == {"pooled", "tokens"}  # no class token, no registers
    for name, tensor in found.items():
        np.testing.assert_allclose(tensor, expected[name], atol=1e-5)


def test_explain_gives_attention_beside_the_answer(artefacts, served):
    found = served.signatures["explain"](images=tf.constant(artefacts.pixels[:2], tf.float32))
    assert set(found) == {"attention", *ANSWERS}
    np.testing.assert_allclose(tf.reduce_sum(found["attention"], (1, 2)), 1, rtol=1e-5)
