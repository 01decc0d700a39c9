"""Which image comes when, and with which random numbers: a pure function of the step.

Nothing here has state, so that a run can start at any step. `tf.random.*` inside `Dataset.map`
has: it starts anew with each iterator, and every epoch then repeats the first one's draws.
"""

import tensorflow as tf

# What tf.random.experimental.index_shuffle puts before a seed of shape [2].
_PAD = 498247692
_GOLDEN = 0x9E3779B97F4A7C15


def shuffled_index(i, seed, epoch, n):
    """Returns the image at place `i` of an epoch: a permutation of `range(n)` for each epoch.

    Same values as `tf.random.experimental.index_shuffle(i, [seed, epoch], n - 1)`, whose seed
    may by its documentation be of shape `[n, 2]`, which fails in TensorFlow 2.21: it pads the
    wrong axis. The op behind it takes one seed an index.

    Args:
        i: int64 scalar or `[b]`, in `[0, n)`.
        seed: integer.
        epoch: int64, shape of `i` or scalar.
        n: number of images.

    Returns:
        int64 tensor of the shape of `i`, in `[0, n)`.

    Example:

    >>> sorted(shuffled_index([0, 1, 2, 3, 4], seed=1, epoch=0, n=5).numpy().tolist())
    [0, 1, 2, 3, 4]
    """
    i = tf.convert_to_tensor(i, tf.int64)
    epoch = tf.broadcast_to(tf.cast(epoch, tf.int64), tf.shape(i))
    seeds = tf.stack([tf.fill(tf.shape(i), tf.cast(s, tf.int64)) for s in (_PAD, seed)], axis=-1)
    seeds = tf.concat([seeds, epoch[..., None]], axis=-1)
    return tf.raw_ops.RandomIndexShuffle(
        index=i, seed=seeds, max_index=tf.constant(n - 1, tf.int64), rounds=4
    )


def example(number, seed, n, repeats=1):
    """Returns which image stands at a place of the endless training stream, and its key.

    The stream goes through a permutation of all images, then the next: a batch may hold the
    end of one epoch and the start of another, and none is short.

    With `repeats` of k (repeated augmentation) each image comes k times in a row, so within one
    batch but for those at its edges, with another key each time. An epoch still has n places, so
    that a permutation lasts for k epochs. (DeiT's sampler deals the copies of n / k images out to
    the processes of a step, and draws a new permutation each epoch.)

    Args:
        number: int64 scalar or `[b]`, the place, counted from the start of training.
        seed: integer.
        n: number of images.
        repeats: how often an image comes in a row, at least 1.

    Returns:
        `(index, key)`: int64 of the shape of `number`, and int64 `[..., 2]`, the seed of all
        that is random about this image at this place.

    Raises:
        ValueError: if `repeats` is below 1.

    Reference:
        Hoffer et al., *Augment your batch*, 2019, arXiv 1901.09335; Touvron et al., *Training
        data-efficient image transformers*, 2020, arXiv 2012.12877.
    """
    if repeats < 1:
        raise ValueError(f"`repeats` must be at least 1. Received: {repeats}.")
    number = tf.convert_to_tensor(number, tf.int64)
    if repeats > 1:
        index, key = example(number // repeats, seed, n)
        return index, fold(key, number % repeats)
    epoch, place = number // n, number % n
    index = shuffled_index(place, seed, epoch, n)
    state = _absorb(_absorb(tf.zeros_like(number), tf.cast(seed, tf.int64)), epoch)
    return index, tf.stack([state, index], axis=-1)


def fold(key, number):
    """Returns keys that are independent of `key` and of each other.

    Args:
        key: int64 `[..., 2]`.
        number: integer; each gives another key.
    """
    return tf.stack([_absorb(key[..., 0], tf.cast(number, tf.int64)), key[..., 1]], axis=-1)


def uniform(key, count):
    """Returns uniform float32 numbers in [0, 1), `[..., count]`, for keys `[..., 2]`.

    TensorFlow's stateless generators take one seed a call; this one takes one an image, so that
    a whole batch is augmented at once and an image still gets the same numbers in any batch.
    """
    state = _absorb(key[..., 0], key[..., 1])
    bits = tf.bitcast(_absorb(state[..., None], tf.range(count, dtype=tf.int64)), tf.uint64)
    high = tf.bitwise.right_shift(bits, tf.constant(40, tf.uint64))
    return tf.cast(tf.cast(high, tf.int64), tf.float32) * 2.0**-24


def _absorb(state, value):
    """Mixes an int64 into an int64 state: a step of splitmix64.

    Reference: [Steele et al., 2014](https://doi.org/10.1145/2660193.2660195).
    """
    x = tf.bitcast(state, tf.uint64)
    x += (tf.bitcast(value, tf.uint64) + _word(1)) * _word(_GOLDEN)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = tf.bitwise.bitwise_xor(x, tf.bitwise.right_shift(x, _word(shift))) * _word(factor)
    return tf.bitcast(tf.bitwise.bitwise_xor(x, tf.bitwise.right_shift(x, _word(31))), tf.int64)


def _word(value):
    return tf.constant(value, tf.uint64)
