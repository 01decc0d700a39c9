"""How fast data comes: each stage of the way against the bare decoder, by turns."""

import os
import statistics
import time

BATCH = 32
TURNS = 3


def stages(records, preprocessing, augment=None):
    """Returns endless data sets to time.

    Args:
        records: `Records`.
        preprocessing: `Preprocessing` of a model.
        augment: names of augmentations, or None for all.

    Returns:
        `(plain, augmented)`, dicts of name to data set. The last of `plain` is the training
        batch that each of `augmented` adds one part to.

    Raises:
        ValueError: for an unknown name.
    """
    from keras_vit.data import AUGMENTATIONS, decode, training_batches
    from keras_vit.data.augment import augmentations

    def batches(*names):
        return training_batches(records, preprocessing, BATCH, 0, augment=names, cache_bytes=0)

    augmentations(tuple(augment or ()))  # refuses unknown names before the long timing
    (crop, flip) = augmentations(("inception_crop", "flip"))

    def window(size, index):
        return crop.window(size, _key(index))

    plain = {
        "bare decoder": _one_by_one(records, lambda encoded, index: _bare(encoded)),
        "decode": _one_by_one(records, lambda encoded, index: decode(encoded)),
        "decode + crop + flip": _one_by_one(
            records,
            lambda encoded, index: flip(
                decode(encoded, 3, lambda size: window(size, index)), _key(index)
            ),
        ),
        "decode + resize": batches(),
        "decode + crop + resize + flip": batches("inception_crop", "flip"),
    }
    names = AUGMENTATIONS if augment is None else augment
    added = [name for name in names if name not in ("inception_crop", "flip")]
    return plain, {name: batches("inception_crop", "flip", name) for name in added}


def times(datasets, seconds):
    """Returns images a second of each data set: the median of some turns.

    Args:
        datasets: dict of name to an endless data set of batches of `BATCH`.
        seconds: how long each is timed, at a turn.
    """
    iterators = {name: iter(dataset) for name, dataset in datasets.items()}
    rates = {name: [] for name in datasets}
    for turn in range(TURNS + 1):
        for name, iterator in iterators.items():
            _rate(iterator, seconds / 3)  # empties the buffers that filled while the others ran
            rate = _rate(iterator, seconds)
            if turn:  # the first one starts threads and tunes itself
                rates[name].append(rate)
    return {name: statistics.median(values) for name, values in rates.items()}


def _rate(iterator, seconds):
    start, count = time.perf_counter(), 0
    while count == 0 or time.perf_counter() - start < seconds:
        next(iterator)
        count += BATCH
    return count / (time.perf_counter() - start)


def _one_by_one(records, make):
    """Batches of one number of each image that `make` gives, so that no copy is timed."""
    import tensorflow as tf

    def one(number):
        index = number % len(records)
        return make(records.encoded(index), index)[0, 0, 0]

    numbers = tf.data.Dataset.counter()
    images = numbers.map(
        tf.autograph.experimental.do_not_convert(one), num_parallel_calls=os.cpu_count()
    )
    return images.batch(BATCH).prefetch(1)


def _bare(encoded):
    """The decoder of TensorFlow alone, as accurate as ours for JPEG."""
    import tensorflow as tf

    return tf.cond(
        tf.io.is_jpeg(encoded),
        lambda: tf.io.decode_jpeg(encoded, channels=3, dct_method="INTEGER_ACCURATE"),
        lambda: tf.io.decode_image(encoded, channels=3, expand_animations=False),
    )


def _key(index):
    import tensorflow as tf

    return tf.stack([tf.constant(0, tf.int64), index])
