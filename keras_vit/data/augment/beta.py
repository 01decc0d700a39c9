"""Random numbers between 0 and 1 that lean to both ends."""

import tensorflow as tf

from keras_vit.data.order import uniform

# The chance that all fail is 2 ** -32 for alpha 1, and less below.
_ATTEMPTS = 32


def beta(keys, alpha):
    """Returns a number of the Beta(alpha, alpha) distribution a key.

    TensorFlow has none that takes a seed an image. Jöhnk's way: with `x = u ** (1 / alpha)` and `y`
    alike, `x / (x + y)` is one if `x + y` is at most 1. In logarithms, since a small alpha gives
    numbers below float32's least.

    Args:
        keys: int64 `[b, 2]`.
        alpha: in (0, 1].

    Returns:
        float32 `[b]`.

    Reference:
        Jöhnk, *Erzeugung von betaverteilten und gammaverteilten Zufallszahlen*, Metrika 8, 1964.
    """
    draws = uniform(keys, 2 * _ATTEMPTS) + 2.0**-25  # never 0
    x, y = tf.split(tf.math.log(draws) / alpha, 2, axis=-1)
    accepted = tf.exp(x) + tf.exp(y) <= 1
    first = tf.argmax(accepted, axis=-1)
    return tf.gather(tf.sigmoid(x - y), first, batch_dims=1)
