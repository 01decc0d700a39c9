import numpy as np
import tensorflow as tf

from keras_vit.layers import Preprocessing
from keras_vit.training.first_batch import SIDE, FirstBatch, first_batch

VALUE = Preprocessing(image_size=8, mean=(0.3, 0.4, 0.5), std=(0.25, 0.5, 0.2), class_names="ab")
PIXELS = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3)).astype("uint8")


def batches():
    images = np.asarray(VALUE.normalize(PIXELS))
    labels = np.array([[1, 0], [0.25, 0.75]], "float32")
    return tf.data.Dataset.from_tensors((images, labels))


def test_the_pixels_are_those_before_they_were_normalised():
    picture = first_batch(batches(), VALUE)
    assert picture.dtype == np.uint8
    # Two pictures in a row, each enlarged to whole squares, after a gap.
    first = picture[6 : 6 + SIDE, 6 : 6 + SIDE]
    np.testing.assert_array_equal(first[::20, ::20], PIXELS[0])


def test_tensorboard_gets_the_picture(tmp_path):
    FirstBatch(tmp_path, batches, VALUE).on_train_begin()
    (file,) = (tmp_path / "train").iterdir()
    found = [
        tf.io.decode_png(value.tensor.string_val[2]).numpy()
        for event in tf.compat.v1.train.summary_iterator(str(file))
        for value in event.summary.value
        if value.tag == "first batch, as the model sees it"
    ]
    np.testing.assert_array_equal(found, [first_batch(batches(), VALUE)])


def test_a_clip_is_its_first_middle_and_last_frame():
    clip = np.stack([PIXELS[0], PIXELS[1], PIXELS[0] // 2, PIXELS[1] // 2])[None]
    labels = np.array([[1, 0]], "float32")
    data = tf.data.Dataset.from_tensors((np.asarray(VALUE.normalize(clip)), labels))
    drawn = first_batch(data, VALUE)[6 : 6 + SIDE, 6 : 6 + 3 * SIDE]
    expected = np.concatenate([clip[0, 0], clip[0, 2], clip[0, 3]], axis=1)
    np.testing.assert_array_equal(drawn[::20, ::20], expected)


def test_texts_stand_under_their_images():
    def drawn(*texts):
        data = (np.asarray(VALUE.normalize(PIXELS)), np.array(texts, object))
        return first_batch(tf.data.Dataset.from_tensors(data), VALUE)

    one, other = drawn(b"a dog", "日本".encode()), drawn(b"a cat", "日本".encode())
    assert one.shape == other.shape and (one != other).any()
