"""No model: one large matrix product, the most that this machine can do in TensorFlow."""

SIDE = 2048


def product(settings):
    """Returns a function that multiplies two square matrices, `2 * SIDE**3` operations."""
    import tensorflow as tf

    matrix = tf.cast(tf.random.normal((SIDE, SIDE)), settings["dtype"])
    multiply = tf.function(lambda x: tf.matmul(x, x))
    return lambda: multiply(matrix)[0, 0].numpy()


CALLS = {"inference": product, "training step": product}
