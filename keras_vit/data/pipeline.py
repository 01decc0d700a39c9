"""Batches for training and evaluation."""

import dataclasses
import functools

import numpy as np
import tensorflow as tf

from keras_vit.data.augment import STAGES, augmentations, smoothed
from keras_vit.data.boxes import Boxes
from keras_vit.data.decode import decode, fit
from keras_vit.data.order import example, fold
from keras_vit.data.rows import mixed_rows, rows_before
from keras_vit.data.targets import Classes, Tags

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
    repeats=1,
    label_smoothing=0.0,
    rows=None,
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
        repeats: how often an image comes in a row, each time augmented anew (repeated
            augmentation); an epoch then has 1 / repeats of the images, the next one others.
        label_smoothing: share of the target spread over all classes, in [0, 1), before images
            and labels are mixed. Without mixing the loss may as well do it.
        rows: places in the batch that are made alone, such as `range(8, 16)`, the share of one of
            several workers; all by default. Other images are read only to be mixed with those.

    Returns:
        A `tf.data.Dataset` of `(images, targets)`: normalised float32 `[b, h, w, c]`, and what
        `records.targets.for_training` gives: one-hot float32 `[b, num_classes]` for `Classes`.
        Of images without labels, of `(images,)`.

    Raises:
        ValueError: if there are no images, only one class, or for values outside these rules.
    """
    _check(records, batch_size, start_step)
    parts = _by_stage(augment)
    _check_targets(records.targets, parts, label_smoothing)
    chain = rows_before(_rows(rows, batch_size), parts["labelled"], batch_size)
    from_files = parts["decoded"] or not _is_small(records, preprocessing, cache_bytes)
    if from_files:
        draw = _from_files(records, preprocessing, seed, repeats, parts["decoded"])
    else:
        draw = _from_memory(records, preprocessing, seed, repeats)
    collect = _one_by_one if from_files or parts["image"] else _at_once
    batches = collect(draw, parts["image"], batch_size, start_step, chain[0])

    @_as_it_is
    def finish(step, drawn):
        images, index, keys = drawn
        for i, part in parts["fitted"]:
            images = part(images, fold(keys, i))
        images = _normalise(images, preprocessing)
        for i, part in parts["normalised"]:
            images = part(images, fold(keys, i))
        targets = records.targets.for_training(index)
        if label_smoothing:
            targets = (smoothed(*targets, label_smoothing),)
        numbers = step * batch_size + tf.range(batch_size, dtype=tf.int64)
        _, keys = example(numbers, seed, len(records), repeats)
        return mixed_rows(parts["labelled"], chain, images, targets, keys)

    batches = tf.data.Dataset.zip(tf.data.Dataset.counter(start_step), batches)
    return ordered(batches.map(finish, num_parallel_calls=tf.data.AUTOTUNE))


def evaluation_batches(records, preprocessing, batch_size, cache_bytes=CACHE_BYTES, rows=None):
    """All images once, in their order.

    Args:
        records: `Records`.
        preprocessing: `Preprocessing` of the model.
        batch_size: images a batch; the last may have fewer.
        cache_bytes: how much memory the images may be kept in for the next pass, in bytes.
        rows: places in each batch that are made alone, as in `training_batches`; of the last batch
            they may be none.

    Returns:
        A `tf.data.Dataset` of `(pixels, targets)`: float32 `[b, h, w, c]`, whole values 0 to 255,
        and what `records.targets.for_evaluation` gives: int64 `[b]` for `Classes`. Of images
        without labels, of `(pixels,)`.

    Raises:
        ValueError: if there are no images, or for a batch size below 1.
    """
    _check(records, batch_size)
    rows = _rows(rows, batch_size)
    places = np.arange(len(records), dtype="int64")
    places = places[np.isin(places % batch_size, rows)]
    numbers = tf.data.Dataset.from_tensor_slices(places)
    batches = _fitted(records, preprocessing, numbers).batch(len(rows))
    numbers = numbers.batch(len(rows))
    if 0 < len(records) % batch_size <= rows[0]:
        nothing = np.zeros((0, *_shape(records, preprocessing)[1:]), "uint8")
        batches = batches.concatenate(tf.data.Dataset.from_tensors(nothing))
        numbers = numbers.concatenate(tf.data.Dataset.from_tensors(places[:0]))
    if _is_small(records, preprocessing, cache_bytes):
        batches = batches.cache()

    @_as_it_is
    def finish(images, index):
        return (tf.cast(images, tf.float32), *records.targets.for_evaluation(index))

    return ordered(
        tf.data.Dataset.zip(batches, numbers).map(finish, num_parallel_calls=tf.data.AUTOTUNE)
    )


def normalised(batches, preprocessing):
    """Turns `evaluation_batches` into what a Keras model takes.

    Args:
        batches: dataset of `(pixels, targets)` or `(pixels,)`.
        preprocessing: `Preprocessing` of the model.

    Returns:
        A dataset of (normalised float32 images, the same targets).
    """
    return batches.map(
        _as_it_is(lambda pixels, *targets: (_normalise(pixels, preprocessing), *targets)),
        num_parallel_calls=tf.data.AUTOTUNE,
    )


def _by_stage(augment):
    """Stage -> (place in `augment`, part): the place keeps the parts' random numbers apart."""
    parts = list(enumerate(augmentations(augment)))
    return {stage: [(i, p) for i, p in parts if p.stage == stage] for stage in STAGES}


def _from_memory(records, preprocessing, seed, repeats):
    """A function from places in the stream to (fitted images, index, keys), from one tensor."""
    stored = np.empty(_shape(records, preprocessing), "uint8")
    done = 0
    numbers = tf.data.Dataset.range(len(records))
    for images in _fitted(records, preprocessing, numbers).batch(256).as_numpy_iterator():
        stored[done : done + len(images)] = images
        done += len(images)
    with tf.init_scope():
        pixels = tf.constant(stored)

    def draw(numbers):
        index, keys = example(numbers, seed, len(records), repeats)
        return tf.gather(pixels, index), index, keys

    return draw


def _from_files(records, preprocessing, seed, repeats, parts):
    """A function from a place in the stream to (fitted image, index, key), read at its turn.

    Where the first part only cuts, no more than it keeps is decoded.
    """
    if parts:
        preprocessing = dataclasses.replace(preprocessing, resize="squash")
    cuts = parts[:1] if parts and hasattr(parts[0][1], "window") else []
    parts = parts[len(cuts) :]

    def cut(encoded, key):
        ((i, part),) = cuts
        window = lambda size: part.window(size, fold(key, i))  # noqa: E731
        return decode(encoded, preprocessing.channels, window)

    def draw(number):
        index, key = example(number, seed, len(records), repeats)
        encoded = records.encoded(index)
        image = cut(encoded, key) if cuts else _decoder(preprocessing.channels)(encoded)
        for i, part in parts:
            image = part(image, fold(key, i))
        return tf.cast(fit(image, preprocessing), tf.uint8), index, key

    return draw


def _at_once(draw, _, batch_size, start_step, rows):
    """Batches, or these rows of them, drawn as a whole; no part works on single images."""

    @_as_it_is
    def batch(step):
        return draw(step * batch_size + tf.constant(rows, tf.int64))

    return tf.data.Dataset.counter(start_step).map(batch, num_parallel_calls=tf.data.AUTOTUNE)


def _one_by_one(draw, parts, batch_size, start_step, rows):
    """Batches, or these rows of them, of images drawn and changed on their own, in parallel."""

    @_as_it_is
    def one(count):
        place = tf.gather(tf.constant(rows, tf.int64), count % len(rows))
        number = count // len(rows) * batch_size + place
        image, index, key = draw(number)
        for i, part in parts:
            image = part(image, fold(key, i))
        return image, index, key

    counts = tf.data.Dataset.counter(start_step * len(rows))
    return counts.map(one, num_parallel_calls=tf.data.AUTOTUNE).batch(
        len(rows), drop_remainder=True
    )


def _fitted(records, preprocessing, numbers):
    """The images of these numbers, a dataset, uint8 at the model's size."""

    @_as_it_is
    def load(index):
        image = _decoder(preprocessing.channels)(records.encoded(index))
        return tf.cast(fit(image, preprocessing), tf.uint8)

    return numbers.map(load, num_parallel_calls=tf.data.AUTOTUNE)


@functools.cache
def _decoder(channels):
    """`decode`, traced once: it takes a second, and every dataset would do it again."""
    signature = [tf.TensorSpec([], tf.string)]
    return tf.function(lambda encoded: decode(encoded, channels), signature, autograph=False)


def _normalise(pixels, preprocessing):
    """`Preprocessing.normalize` in TensorFlow, since Keras's own backend may be another."""
    scale = [1 / (255 * std) for std in preprocessing.std]
    shift = [mean / std for mean, std in zip(preprocessing.mean, preprocessing.std, strict=True)]
    # A row of pixels at once: to repeat three numbers along a picture takes four times as long.
    width = preprocessing.image_size[1]
    rows = tf.reshape(tf.cast(pixels, tf.float32), [-1, width * len(scale)])
    rows = rows * tf.constant(scale * width) - tf.constant(shift * width)
    return tf.ensure_shape(tf.reshape(rows, tf.shape(pixels)), pixels.shape)


def kept_rows(batches, rows):
    """Returns some rows of each batch; of a short one they may be none.

    Args:
        batches: a dataset of tuples of tensors, or of structures of them.
        rows: neighbouring places in the batch, or None for all.
    """
    if rows is None:
        return batches
    first, last = rows[0], rows[-1] + 1
    cut = lambda *parts: tf.nest.map_structure(lambda part: part[first:last], parts)  # noqa: E731
    return batches.map(tf.autograph.experimental.do_not_convert(cut))


def ordered(batches):
    """Returns a dataset that is made ahead, and always in the same order."""
    options = tf.data.Options()
    options.deterministic = True
    return batches.with_options(options).prefetch(tf.data.AUTOTUNE)


def _shape(records, preprocessing):
    return (len(records), *preprocessing.image_size, preprocessing.channels)


def _is_small(records, preprocessing, cache_bytes):
    return np.prod(_shape(records, preprocessing), dtype="int64") <= cache_bytes


def _rows(rows, batch_size):
    """The places that are made, as an array."""
    if rows is None:
        return np.arange(batch_size)
    found = np.asarray(rows)
    if not len(found) or found[0] < 0 or found[-1] >= batch_size or (np.diff(found) < 1).any():
        raise ValueError(
            f"`rows` must be increasing places in a batch of {batch_size}, at least one. "
            f"Received: {rows}."
        )
    return found


def _check(records, batch_size, start_step=0):
    if not len(records):
        raise ValueError("There are no images.")
    if batch_size < 1:
        raise ValueError(f"`batch_size` must be at least 1. Received: {batch_size}.")
    if start_step < 0:
        raise ValueError(f"`start_step` must be at least 0. Received: {start_step}.")


def _check_targets(targets, parts, label_smoothing):
    if isinstance(targets, Classes) and len(targets.class_names) == 1:
        raise ValueError(
            f"All images are of one class, {targets.class_names[0]!r}, and there is nothing to "
            "tell apart: add images of another class."
        )
    if (label_smoothing or parts["labelled"]) and not isinstance(targets, Classes | Tags):
        raise ValueError(
            "`label_smoothing` and parts that mix labels need classes to work on. "
            f"Received: {type(targets).__name__}."
        )
    if isinstance(targets, Boxes) and any(parts.values()):
        raise ValueError("`augment` must be empty for images with boxes, which it would not move.")
