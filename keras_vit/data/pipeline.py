"""Batches for training and evaluation."""

import dataclasses

import numpy as np
import tensorflow as tf

from keras_vit.data.augment import augmentations
from keras_vit.data.decode import decode, fit
from keras_vit.data.order import example, fold

# Fitted images are kept in memory as uint8 where all of them take no more than this.
CACHE_BYTES = 256 * 2**20

# Nothing here needs AutoGraph, which takes longer than the tracing itself.
_as_it_is = tf.autograph.experimental.do_not_convert


def training_batches(
    records,
    preprocessing,
    batch_size,
    seed,
    start_step=0,
    augment=(),
    cache_bytes=CACHE_BYTES,
):
    """Endless batches in random order, each a pure function of its step.

    Every image comes once an epoch. A run that starts at step k gets what an uninterrupted one
    gets from step k on; whether images are kept in memory changes nothing but the speed.

    Args:
        records: `Records`.
        preprocessing: `Preprocessing` of the model.
        batch_size: images a batch; may be more than there are images.
        seed: integer: fixes order and augmentation.
        start_step: number of the first batch, counted from the start of training.
        augment: names of `AUGMENTATIONS`, or parts like those, in order. With a part that works
            on decoded images (`"inception_crop"`) the model's own `resize` and `crop` give way
            to a plain resize of what that part returns.
        cache_bytes: how much memory the images may be kept in, in bytes; 0 for none.

    Returns:
        A `tf.data.Dataset` of `(images, labels)`: normalised float32 `[b, h, w, c]` and one-hot
        float32 `[b, num_classes]`.

    Raises:
        ValueError: if there are no images, or for values outside these rules.
    """
    _check(records, batch_size)
    if start_step < 0:
        raise ValueError(f"`start_step` must be at least 0. Received: {start_step}.")
    parts = list(enumerate(augmentations(augment)))
    early = [(i, part) for i, part in parts if part.stage == "decoded"]
    late = [(i, part) for i, part in parts if part.stage != "decoded"]
    if early or not _is_small(records, preprocessing, cache_bytes):
        batches = _from_files(records, preprocessing, batch_size, seed, start_step, early)
    else:
        batches = _from_memory(records, preprocessing, batch_size, seed, start_step)
    with tf.init_scope():
        labels = tf.constant(records.labels)

    @_as_it_is
    def finish(images, index, keys):
        for i, part in late:
            images = part(images, fold(keys, i))
        one_hot = tf.one_hot(tf.gather(labels, index), len(records.class_names))
        return _normalise(images, preprocessing), one_hot

    return _ordered(batches.map(finish, num_parallel_calls=tf.data.AUTOTUNE))


def evaluation_batches(records, preprocessing, batch_size, cache_bytes=CACHE_BYTES):
    """All images once, in their order.

    Args:
        records: `Records`.
        preprocessing: `Preprocessing` of the model.
        batch_size: images a batch; the last may have fewer.
        cache_bytes: how much memory the images may be kept in for the next pass, in bytes.

    Returns:
        A `tf.data.Dataset` of `(pixels, labels)`: float32 `[b, h, w, c]`, whole values 0 to 255,
        and int64 `[b]`.

    Raises:
        ValueError: if there are no images, or for a batch size below 1.
    """
    _check(records, batch_size)
    batches = _fitted(records, preprocessing).batch(batch_size)
    labels = tf.data.Dataset.from_tensor_slices(records.labels).batch(batch_size)
    if _is_small(records, preprocessing, cache_bytes):
        batches = batches.cache()
    return _ordered(
        tf.data.Dataset.zip(batches, labels).map(
            _as_it_is(lambda images, classes: (tf.cast(images, tf.float32), classes)),
            num_parallel_calls=tf.data.AUTOTUNE,
        )
    )


def normalised(batches, preprocessing):
    """Turns `evaluation_batches` into what a Keras model takes.

    Args:
        batches: dataset of `(pixels, labels)`.
        preprocessing: `Preprocessing` of the model.

    Returns:
        A dataset of (normalised float32 images, the same labels).
    """
    return batches.map(
        _as_it_is(lambda pixels, labels: (_normalise(pixels, preprocessing), labels)),
        num_parallel_calls=tf.data.AUTOTUNE,
    )


def _from_memory(records, preprocessing, batch_size, seed, start_step):
    """Batches of fitted images, drawn from one tensor that holds them all."""
    stored = np.empty(_shape(records, preprocessing), "uint8")
    done = 0
    for images in _fitted(records, preprocessing).batch(256).as_numpy_iterator():
        stored[done : done + len(images)] = images
        done += len(images)
    with tf.init_scope():
        pixels = tf.constant(stored)

    @_as_it_is
    def draw(step):
        numbers = step * batch_size + tf.range(batch_size, dtype=tf.int64)
        index, keys = example(numbers, seed, len(records))
        return tf.gather(pixels, index), index, keys

    return tf.data.Dataset.counter(start_step).map(draw, num_parallel_calls=tf.data.AUTOTUNE)


def _from_files(records, preprocessing, batch_size, seed, start_step, early):
    """Batches of fitted images, each read, decoded and cut when its turn comes."""
    if early:
        preprocessing = dataclasses.replace(preprocessing, resize="squash")

    @_as_it_is
    def draw(number):
        index, key = example(number, seed, len(records))
        image = decode(records.encoded(index), preprocessing.channels)
        for i, part in early:
            image = part(image, fold(key, i))
        return tf.cast(fit(image, preprocessing), tf.uint8), index, key

    numbers = tf.data.Dataset.counter(start_step * batch_size)
    return numbers.map(draw, num_parallel_calls=tf.data.AUTOTUNE).batch(
        batch_size, drop_remainder=True
    )


def _fitted(records, preprocessing):
    """All images in their order, uint8 at the model's size."""

    @_as_it_is
    def load(index):
        image = decode(records.encoded(index), preprocessing.channels)
        return tf.cast(fit(image, preprocessing), tf.uint8)

    return tf.data.Dataset.range(len(records)).map(load, num_parallel_calls=tf.data.AUTOTUNE)


def _normalise(pixels, preprocessing):
    """`Preprocessing.normalize` in TensorFlow, since Keras's own backend may be another."""
    scale = [1 / (255 * std) for std in preprocessing.std]
    shift = [mean / std for mean, std in zip(preprocessing.mean, preprocessing.std, strict=True)]
    return tf.cast(pixels, tf.float32) * tf.constant(scale) - tf.constant(shift)


def _ordered(batches):
    options = tf.data.Options()
    options.deterministic = True
    return batches.with_options(options).prefetch(tf.data.AUTOTUNE)


def _shape(records, preprocessing):
    return (len(records), *preprocessing.image_size, preprocessing.channels)


def _is_small(records, preprocessing, cache_bytes):
    return np.prod(_shape(records, preprocessing), dtype="int64") <= cache_bytes


def _check(records, batch_size):
    if not len(records):
        raise ValueError("There are no images.")
    if batch_size < 1:
        raise ValueError(f"`batch_size` must be at least 1. Received: {batch_size}.")
