"""Images and keys for the tests of the parts."""

import tensorflow as tf

from keras_vit.data.order import example
from tests.data.pictures import noise

IMAGES = tf.constant(noise(64, 16, 24, 3))


def keys(count, seed=2):
    return example(tf.range(count, dtype=tf.int64), seed=seed, n=count)[1]


KEYS = keys(64)


def changes(part, count):
    """(which, level) of each change that a policy makes, `[count, changes, 2]`.

    The policy's `change` must have been replaced by `note`, which writes down what it is told.
    """
    run = lambda key: tf.reshape(part(tf.zeros([0]), key), [-1, 2])  # noqa: E731
    spec = tf.TensorSpec([None, 2], tf.float32)
    graph = tf.function(lambda seeds: tf.map_fn(run, seeds, fn_output_signature=spec))
    return graph(keys(count)).numpy()


def note(image, which, level, key, levels, moves):
    return tf.concat([image, [tf.cast(which, tf.float32), level]], axis=0)
