"""Encoded pictures to pixels inside the graph, so that a damaged one does not fail its batch."""

import tensorflow as tf

from keras_vit.data.decode import decode, fit

ERROR = "The bytes are not a whole JPEG, PNG, GIF, BMP or WebP picture of a size that is read."
# How whole files of a kind begin and end. The other kinds state their length instead.
ENDS = ((b"\xff\xd8\xff", b"\xff\xd9"), (b"\x89PNG", b"IEND\xaeB`\x82"), (b"GIF8", b"\x3b"))


def pictures(encoded, preprocessing):
    """Decodes a batch of pictures as `keras_vit.data.decode` does.

    TensorFlow's decoders fail the whole call for one damaged picture. `tf.data` passes over
    elements that fail, but takes a second to set up each time (TF 2.21), so it is used only where
    a picture does not end as a whole file of its kind does. What then is left to fail its batch
    is a picture that is damaged in its middle alone.

    Args:
        encoded: string tensor `[b]`.
        preprocessing: the model's `Preprocessing`.

    Returns:
        (pixels float32 `[b, h, w, c]`, bool `[b]`: whether the picture could be read). Pixels of
        one that could not are 0.
    """
    shape = (*preprocessing.image_size, preprocessing.channels)

    @tf.function(input_signature=[tf.TensorSpec((), tf.string)], autograph=False)
    def picture(one):
        return tf.ensure_shape(fit(decode(one, preprocessing.channels), preprocessing), shape)

    def all_at_once():
        pixels = tf.map_fn(picture, encoded, fn_output_signature=tf.TensorSpec(shape))
        return pixels, tf.fill(tf.shape(encoded), True)

    pixels, readable = tf.cond(
        tf.reduce_all(_look_whole(encoded)),
        all_at_once,
        lambda: _those_that_decode(picture, encoded, shape),
    )
    return tf.ensure_shape(pixels, [None, *shape]), tf.ensure_shape(readable, [None])


def _those_that_decode(picture, encoded, shape):
    count = tf.size(encoded, out_type=tf.int64)
    dataset = tf.data.Dataset.from_tensor_slices(encoded).enumerate()
    dataset = dataset.map(lambda index, one: (index, picture(one))).ignore_errors().batch(count)
    nothing = tf.zeros([0], tf.int64), tf.zeros([0, *shape])
    # One batch, or none: what is reduced is the batch itself.
    where, pixels = dataset.reduce(nothing, lambda _, found: found)
    return (
        tf.scatter_nd(where[:, None], pixels, tf.stack([count, *shape])),
        tf.scatter_nd(where[:, None], tf.ones_like(where, tf.bool), count[None]),
    )


def _look_whole(encoded):
    """Whether each file ends where its kind says, bool `[b]`."""
    whole = _states_its_length(encoded, b"BM", place=2, rest=0)
    whole |= _states_its_length(encoded, b"RIFF", place=4, rest=8)
    for start, end in ENDS:
        whole |= _begins(encoded, start) & _ends(encoded, end)
    return whole


def _states_its_length(encoded, start, place, rest):
    padded = tf.strings.join([encoded, b"\0" * (place + 4)])
    stated = tf.io.decode_raw(tf.strings.substr(padded, place, 4), tf.int32)
    stated = tf.reshape(stated, [-1])
    fits = (stated > 0) & (stated <= tf.strings.length(encoded) - rest)
    return _begins(encoded, start) & fits


def _begins(encoded, text):
    padded = tf.strings.join([encoded, b"\0" * len(text)])
    return tf.equal(tf.strings.substr(padded, 0, len(text)), text)


def _ends(encoded, text):
    padded = tf.strings.join([b"\0" * len(text), encoded])
    return tf.equal(tf.strings.substr(padded, -len(text), len(text)), text)
