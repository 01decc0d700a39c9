"""Encoded pictures to pixels, each by itself, so that a bad one fails alone."""

import numpy as np
import tensorflow as tf

from keras_vit.data import headers
from keras_vit.data.decode import decode, fit
from keras_vit.export.server.errors import graph_reason
from keras_vit.export.server.gif import first_frame

# How files start, and what tells their size. A BMP is as large as its pixels are.
_SIZES = (
    (b"\xff\xd8\xff", headers.jpeg_size),
    (b"\x89PNG", headers.png_size),
    (b"GIF8", headers.gif_size),
    (b"RIFF", headers.webp_size),
)
# A white PNG of one pixel.
_BLANK = tf.io.encode_png(np.full((1, 1, 3), 255, "uint8")).numpy()


class Pictures:
    """Makes pixels for a model out of encoded pictures, by the decoder that training uses.

    Args:
        preprocessing: the model's `Preprocessing`.
        max_pixels: most pixels of a picture.
    """

    def __init__(self, preprocessing, max_pixels):
        self._preprocessing = preprocessing

        @tf.function(input_signature=[tf.TensorSpec((), tf.string)], autograph=False)
        def prepared(encoded):
            count = tf.reduce_prod(_size(encoded))
            message = f"The picture has more than {max_pixels:,} pixels."
            with tf.control_dependencies([tf.debugging.Assert(count <= max_pixels, [message])]):
                encoded = tf.identity(encoded)
            return fit(decode(encoded, preprocessing.channels), preprocessing)

        self._prepared = prepared
        # The first call takes seconds: the graph is made then, and must not be for a client.
        self.read([_BLANK])

    def read(self, encoded):
        """Decodes pictures, each by itself.

        Args:
            encoded: list or array of bytes.

        Returns:
            (float32 `[b, h, w, c]`, values 0 to 255; list of strings: why a picture, whose
            pixels are then 0, could not be read, or nothing).
        """
        found = [self._one(picture) for picture in encoded]
        return np.stack([pixels for pixels, _ in found]), [reason for _, reason in found]

    def _one(self, picture):
        try:
            return self._prepared(first_frame(picture)).numpy(), ""
        except tf.errors.OpError as error:
            shape = (*self._preprocessing.image_size, self._preprocessing.channels)
            return np.zeros(shape, "float32"), graph_reason(error)


def _size(encoded):
    """(height, width) by the header, int64; zeros for other kinds of files."""

    def by(size):
        return lambda: tf.cast(tf.stack(size(encoded)), tf.int64)

    return tf.case(
        [
            (tf.equal(tf.strings.substr(encoded, 0, len(start)), start), by(size))
            for start, size in _SIZES
        ],
        default=lambda: tf.zeros([2], tf.int64),
        exclusive=False,
    )
