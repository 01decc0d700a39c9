"""Images in the forms of the signatures' inputs."""

import numpy as np
import tensorflow as tf

from keras_vit.export.serving.examples import as_inputs

IMAGES = np.arange(2 * 3 * 5, dtype="uint8").reshape(2, 3, 5, 1)


def test_each_input_gets_the_same_images():
    assert as_inputs("images", "float32", IMAGES).dtype == "float32"
    encoded = as_inputs("image_bytes", "string", IMAGES)
    np.testing.assert_array_equal([tf.io.decode_png(one) for one in encoded], IMAGES)
    examples = [
        tf.train.Example.FromString(one.numpy()) for one in as_inputs("inputs", "string", IMAGES)
    ]
    values = [one.features.feature["image/encoded"].bytes_list.value for one in examples]
    assert [value[0] for value in values] == encoded.numpy().tolist()
    assert as_inputs("image_bytes", "string", IMAGES[:0]).shape == (0,)
