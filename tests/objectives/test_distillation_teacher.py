import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.models import ViT
from keras_vit.objectives import Teacher
from keras_vit.objectives.distillation_teacher import resizing
from tests.objectives.taught import convnet, seen, student

GIVEN = student().preprocessing
PIXELS = np.random.default_rng(5).uniform(size=(2, 4, 4, 1)).astype("float32")
IMAGES = (PIXELS - 0.3) / 0.4


def test_it_sees_the_same_picture_at_its_own_size_and_range():
    """Grey becomes colour, 4 x 4 becomes 6 x 6, and the numbers are 0 to 255."""
    model = convnet()
    expected = tf.image.resize(np.repeat(PIXELS, 3, axis=-1), (6, 6), antialias=True) * 255
    logits = Teacher(model, seen(), GIVEN)(IMAGES)
    np.testing.assert_allclose(logits, model(expected, training=False), rtol=1e-5)


@pytest.mark.parametrize(("old", "new"), [(7, 13), (13, 7), (5, 5), (12, 5)])
def test_the_resize_is_tensorflows(old, new):
    picture = np.random.default_rng(0).uniform(size=(old, 3, 1))
    expected = tf.image.resize(picture, (new, 3), antialias=True)[..., 0]
    np.testing.assert_allclose(resizing(old, new) @ picture[..., 0], expected, atol=1e-6)


def test_one_of_the_package_sees_what_it_is_used_to():
    model = student(ViT)
    np.testing.assert_allclose(
        Teacher(model, model.preprocessing, GIVEN)(IMAGES), model(IMAGES), atol=1e-5
    )


def test_probabilities_become_logits():
    model = convnet(activation="softmax")
    teacher = Teacher(model, seen(std=1.0), GIVEN)
    assert teacher.gives_probabilities
    images = tf.image.resize(np.repeat(PIXELS, 3, axis=-1), (6, 6), antialias=True)
    logits = teacher(IMAGES)
    np.testing.assert_allclose(tf.nn.softmax(logits), model(images), rtol=1e-5, atol=3e-7)


def test_it_is_frozen_and_never_in_training_mode():
    teacher = Teacher(convnet(), seen(), GIVEN)
    assert not teacher.trainable_variables
    before = [weight.numpy() for weight in teacher.model.weights]
    functional = keras.Sequential([keras.Input((4, 4, 1)), teacher])
    np.testing.assert_array_equal(functional(IMAGES, training=True), teacher(IMAGES))
    for weight, value in zip(teacher.model.weights, before, strict=True):
        np.testing.assert_array_equal(weight, value)
    with tf.GradientTape() as tape:
        images = tf.constant(IMAGES)
        tape.watch(images)
        loss = tf.reduce_sum(teacher(images))
    assert tape.gradient(loss, images) is None


def test_config_round_trip():
    teacher = Teacher(convnet(), seen(), GIVEN)
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(teacher))
    again.set_weights(teacher.get_weights())
    np.testing.assert_array_equal(again(IMAGES), teacher(IMAGES))


def two_outputs():
    inputs = keras.Input((6, 6, 3))
    flat = keras.layers.Flatten()(inputs)
    return keras.Model(inputs, [keras.layers.Dense(3)(flat), keras.layers.Dense(3)(flat)])


@pytest.mark.parametrize(
    ("model", "seen_by_it", "text"),
    [
        (convnet(size=8), seen(), r"shape \(6, 6, 3\). Received: .*8, 8, 3"),
        (convnet(channels=4), seen(4), None),
        (two_outputs(), seen(), "one vector of logits an image. Received"),
        (keras.Sequential([keras.Input((6, 6, 3)), keras.layers.Conv2D(3, 2)]), seen(), "one vec"),
        (keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)]), seen(), "must take images"),
    ],
)
def test_a_model_that_cannot_be_asked(model, seen_by_it, text):
    if text is None:  # grey images do for any number of channels
        assert Teacher(model, seen_by_it, GIVEN)(IMAGES).shape == (2, 3)
        return
    with pytest.raises(ValueError, match=text):
        Teacher(model, seen_by_it, GIVEN)


def test_a_coloured_student_of_a_grey_teacher():
    with pytest.raises(ValueError, match="wants 1 channels, and the student's images have 3"):
        Teacher(convnet(channels=1), seen(1), student(channels=3).preprocessing)


def test_a_teacher_that_is_broken():
    model = convnet()
    model.layers[-1].bias.assign([np.nan] * 3)
    with pytest.raises(ValueError, match="not finite"):
        Teacher(model, seen(), GIVEN)
