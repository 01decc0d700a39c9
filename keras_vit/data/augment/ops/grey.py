"""The brightness of a pixel."""

import tensorflow as tf

# Weights of red, green and blue, ITU-R 601-2, in 1/65536: the integers of Pillow's mode "L".
_LUMA = (19595, 38470, 7471)


def grey(image):
    """Returns the brightness of an image.

    Args:
        image: uint8 `[h, w, c]`, c 1 or 3.

    Returns:
        uint8 `[h, w, 1]`.
    """
    if image.shape[-1] == 1:
        return image
    # Channel by channel: a sum over the last axis takes four times as long.
    channels = tf.unstack(tf.cast(image, tf.int32), axis=-1)
    total = tf.add_n([level * weight for level, weight in zip(channels, _LUMA, strict=True)])
    return tf.cast(tf.bitwise.right_shift(total + 32768, 16), tf.uint8)[..., None]
