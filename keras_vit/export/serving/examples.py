"""Images in the forms that signatures take."""

import tensorflow as tf

FEATURE = "image/encoded"


def example(encoded):
    """Returns a `tf.train.Example` of an encoded picture, as `classify` takes it.

    Args:
        encoded: bytes of a JPEG, PNG, GIF, BMP or WebP file.

    Example:

    >>> list(example(b"...").features.feature)
    ['image/encoded']
    """
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[encoded]))
    return tf.train.Example(features=tf.train.Features(feature={FEATURE: feature}))


def png(image):
    """Returns an image, uint8 `[h, w, c]`, as a PNG file."""
    return tf.io.encode_png(image).numpy()


def as_inputs(name, dtype, images):
    """Returns images as the values of one input of a signature.

    Args:
        name: the input's name: `"images"`, `"image_bytes"` or `"inputs"`.
        dtype: its dtype.
        images: uint8 `[b, h, w, c]`.
    """
    if name == "images":
        return tf.cast(images, dtype)
    encoded = [png(image) for image in images]
    if name == "inputs":
        encoded = [example(one).SerializeToString() for one in encoded]
    return tf.constant(encoded, tf.string, (len(encoded),))
