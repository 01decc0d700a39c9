"""Blends of an image with a poorer one of itself, as in Pillow's `ImageEnhance`.

A factor of 1 changes nothing, 0 gives the poorer image, and above 1 goes the other way.
"""

import tensorflow as tf

from keras_vit.data.augment.ops.grey import grey


def brightness(image, factor):
    """Between black and the image."""
    return _blend(0.0, image, factor)


def color(image, factor):
    """Between grey and the image; a grey image stays."""
    return _blend(grey(image), image, factor)


def contrast(image, factor):
    """Between one grey, the mean brightness, and the image.

    big_vision blends with a grey that depends on the number of pixels only (it sums a histogram
    without its levels): 196 at 224 x 224, white from 256 x 256 on. Here it is Pillow's, and
    timm's, mean.
    """
    mean = tf.reduce_mean(tf.cast(grey(image), tf.float64))
    return _blend(tf.floor(mean + 0.5), image, factor)


def sharpness(image, factor):
    """Between the image smoothed (its border apart) and the image."""
    values = tf.cast(image, tf.int32)
    rows = values[:-2] + values[1:-1] + values[2:]
    around = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    centre = values[1:-1, 1:-1]
    smooth = (2 * (around + 4 * centre) + 13) // 26  # weights of 1 and 5, of 13, rounded
    edges = values - tf.pad(centre, [(1, 1), (1, 1), (0, 0)])
    return _blend(edges + tf.pad(smooth, [(1, 1), (1, 1), (0, 0)]), image, factor)


def hue(image, turn):
    """Turns the hue by a share of the circle, -1 to 1; a grey image stays.

    In float32, as torchvision does it for tensors; for Pillow images it goes by 1/256 of the
    circle.
    """
    return tf.image.adjust_hue(image, turn) if image.shape[-1] == 3 else image


def _blend(poorer, image, factor):
    """Rounded towards zero, as `Image.blend` does."""
    poorer = tf.cast(poorer, tf.float32)
    mixed = poorer + tf.cast(factor, tf.float32) * (tf.cast(image, tf.float32) - poorer)
    return tf.cast(tf.clip_by_value(mixed, 0.0, 255.0), tf.uint8)
