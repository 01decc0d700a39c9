import numpy as np
import pytest
import tensorflow as tf

from keras_vit.data import shuffled_index
from keras_vit.data.order import example, fold, uniform


@pytest.mark.parametrize("n", [1, 2, 3, 7, 101])
def test_every_epoch_is_a_permutation(n):
    for epoch in range(3):
        order = shuffled_index(tf.range(n, dtype=tf.int64), seed=5, epoch=epoch, n=n)
        assert sorted(order.numpy().tolist()) == list(range(n))


def test_order_differs_between_epochs_and_seeds_and_is_the_same_again():
    def order(seed, epoch):
        return shuffled_index(tf.range(101, dtype=tf.int64), seed, epoch, 101).numpy().tolist()

    assert order(5, 0) == order(5, 0)
    assert len({tuple(order(seed, epoch)) for seed in (5, 6) for epoch in range(3)}) == 6


def test_equals_tensorflows_index_shuffle():
    for place in range(11):
        expected = tf.random.experimental.index_shuffle(
            tf.constant(place, tf.int64), tf.constant([7, 3], tf.int64), tf.constant(10, tf.int64)
        )
        assert shuffled_index(place, seed=7, epoch=3, n=11) == expected


def test_a_batch_may_span_epochs():
    index, keys = example(tf.range(30, dtype=tf.int64), seed=1, n=10)
    for epoch in range(3):
        assert sorted(index.numpy()[10 * epoch : 10 * epoch + 10]) == list(range(10))
    assert len({tuple(key) for key in keys.numpy().tolist()}) == 30


def test_one_at_a_time_equals_a_batch():
    index, keys = example(tf.range(20, 26, dtype=tf.int64), seed=1, n=11)
    draws = uniform(keys, 3)
    for place in range(6):
        one, key = example(20 + place, seed=1, n=11)
        assert one == index[place]
        np.testing.assert_array_equal(key, keys[place])
        np.testing.assert_array_equal(uniform(key, 3), draws[place])


def test_the_order_is_the_same_on_every_machine():
    """Golden values: a run that is resumed with another version would silently change."""
    index, _ = example(tf.range(3, dtype=tf.int64), seed=1, n=1000)
    assert index.numpy().tolist() == [712, 261, 519]


def splitmix(state, value):
    """The same mixing with Python's unbounded integers."""
    mask = 2**64 - 1
    x = (state + (value + 1) * 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def test_draws_equal_splitmix_in_python():
    number, seed, n = 23, 4, 9
    index, key = example(number, seed, n)
    state = splitmix(splitmix(splitmix(0, seed), number // n), int(index))
    expected = [(splitmix(state, draw) >> 40) / 2**24 for draw in range(4)]
    np.testing.assert_array_equal(uniform(key, 4).numpy(), np.float32(expected))


def test_draws_are_uniform_and_independent():
    _, keys = example(tf.range(20_000, dtype=tf.int64), seed=3, n=1000)
    draws = np.concatenate([uniform(keys, 2), uniform(fold(keys, 1), 2)], axis=1)
    assert draws.min() >= 0 and draws.max() < 1
    # Standard errors are 0.002 for the mean, 0.002 for the deviation, 0.007 for a correlation.
    assert np.abs(draws.mean(0) - 0.5).max() < 0.01
    assert np.abs(draws.std(0) - 12**-0.5).max() < 0.01
    assert np.abs(np.corrcoef(draws.T) - np.eye(4)).max() < 0.03
    # The draws of one image in successive epochs, and of neighbours in one epoch.
    assert abs(np.corrcoef(draws[:-1000, 0], draws[1000:, 0])[0, 1]) < 0.03
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < 0.03


def test_repeated_augmentation_shows_an_image_k_times_in_a_row():
    n, repeats = 10, 3
    index, keys = example(tf.range(2 * repeats * n, dtype=tf.int64), seed=1, n=n, repeats=repeats)
    plain, plain_keys = example(tf.range(2 * n, dtype=tf.int64), seed=1, n=n)
    np.testing.assert_array_equal(index, np.repeat(plain, repeats))
    # Three epochs show every image three times, each time with another key.
    assert np.bincount(index[: repeats * n]).tolist() == [repeats] * n
    seen = {tuple(key) for key in (*keys.numpy().tolist(), *plain_keys.numpy().tolist())}
    assert len(seen) == 2 * repeats * n + 2 * n
    one, key = example(17, seed=1, n=n, repeats=repeats)
    assert one == index[17] and key.numpy().tolist() == keys[17].numpy().tolist()


def test_repeats_are_checked():
    with pytest.raises(ValueError, match="`repeats` must be at least 1. Received: 0"):
        example(0, seed=1, n=3, repeats=0)
