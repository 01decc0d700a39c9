"""From encoded bytes to a model's pixels: the one definition of it, in the TensorFlow graph."""

import numpy as np
import tensorflow as tf

from keras_vit.data import headers
from keras_vit.data.augment.crops import cut
from keras_vit.data.augment.ops import grey

# How files start; "." stands for any byte. The last is for all others.
_STARTS = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"BM", b"RIFF....WEBP", b"")
_WIDTH = 21  # up to the flags of an extended WebP
_BYTES = np.array([list(start.ljust(_WIDTH, b".")) for start in _STARTS], "uint8")
_ANY = _BYTES == ord(".")


def decode(encoded, channels=3, window=None):
    """Decodes one image, the right way up.

    The kind is told from the bytes, never from a name. Equal to Pillow, to the last bit, for
    JPEG (`INTEGER_ACCURATE`; TensorFlow's default differs by up to 5 levels) and PNG.

    - 16-bit images keep their high byte; palettes are applied.
    - Transparency, of PNG and WebP, is composited on white.
    - The EXIF orientation of JPEG, PNG and WebP is applied.
    - Of an animated GIF the first frame counts; its transparent pixels are black, since
      TensorFlow's decoder gives no alpha. The fourth byte of a 32-bit BMP counts as padding.
    - A palette in a BMP is passed over, and an animated WebP is refused (TensorFlow 2.21's
      decoder crashes on it): `keras_vit.data.scan` finds both.
    - More than `headers.MOST_PIXELS` are refused before memory is taken for them; a BMP, which
      is as large as its pixels, is not asked.

    Args:
        encoded: scalar string tensor: a JPEG, PNG, GIF, BMP or WebP file.
        channels: 3 (grey becomes three equal channels) or 1 (colours become grey).
        window: function of (height, width), int32 `[2]`, to the part that is wanted, int32 `[4]`:
            top, left, height, width. Of a JPEG little more than that part is decoded.

    Returns:
        uint8 `[h, w, channels]`.

    Raises:
        ValueError: if `channels` is neither 1 nor 3.
        tf.errors.InvalidArgumentError: when run, if the bytes are not such an image, or one of
            too many pixels.
    """
    if channels not in (1, 3):
        raise ValueError(f"`channels` must be 1 or 3 to decode an image. Received: {channels}.")
    encoded = tf.convert_to_tensor(encoded, tf.string)
    head = tf.strings.join([tf.strings.substr(encoded, 0, _WIDTH), b"\0" * _WIDTH])
    head = tf.io.decode_raw(head, tf.uint8)[:_WIDTH]
    # The first that fits, in tensors: this runs for every image, where the cost of an op is that
    # of decoding a hundred pixels.
    which = tf.reduce_all(tf.equal(head, _BYTES) | _ANY, axis=1)
    which = tf.argmax(tf.cast(which, tf.int32), output_type=tf.int32)
    readers = [
        lambda: _jpeg(encoded, window),
        lambda: _cut(_colours(_png(encoded)), window),
        lambda: _cut(_gif(encoded), window),
        lambda: _cut(_colours(_bmp(encoded)), window),
        lambda: _cut(_colours(_webp(encoded, head)), window),
        _unknown,
    ]
    image = tf.ensure_shape(tf.switch_case(which, readers), [None, None, 3])
    return grey(image) if channels == 1 else image


def fit(image, preprocessing):
    """Brings an image to a model's size, antialiased.

    As Pillow does within a level; but bicubic overshoots at hard edges, and Pillow cuts that off
    in between its two passes: a drawing in black and white differs there by some levels.

    Pixels are rounded to whole levels, as in an image file: one kept in memory as uint8, or fed
    to a uint8 model, is then the same.

    Args:
        image: `[h, w, c]`, values 0 to 255, any dtype.
        preprocessing: `Preprocessing`; its `image_size`, `resize`, `crop` and `interpolation`.

    Returns:
        float32 `[height, width, c]`, whole values 0 to 255.
    """
    size = preprocessing.image_size
    shape = tf.shape(image)[:2]
    cuts = preprocessing.resize == "crop" and preprocessing.crop < 1
    out = tf.cond(
        tf.reduce_all(tf.equal(shape, size)) & (not cuts),
        lambda: tf.cast(image, tf.float32),
        lambda: _resample(image, shape, preprocessing),
    )
    return tf.ensure_shape(tf.clip_by_value(tf.round(out), 0.0, 255.0), [*size, image.shape[-1]])


def fitting(shape, preprocessing):
    """Returns how `fit` brings an image to a model's size.

    Args:
        shape: (height, width) of the image, int32 `[2]`.
        preprocessing: as `fit` takes it.

    Returns:
        (size, offset), each (vertical, horizontal), int32 `[2]`: what the whole image is resized
        to, and where in it the model's image begins.
    """
    return _RESIZES[preprocessing.resize](shape, preprocessing.image_size, preprocessing.crop)


def _resample(image, shape, preprocessing):
    """The image resized and cut, float32, not yet rounded."""
    size = preprocessing.image_size
    resized, offset = fitting(shape, preprocessing)
    scale = tf.cast(resized, tf.float32) / tf.cast(shape, tf.float32)
    if preprocessing.interpolation == "nearest":
        return _nearest(image, size, scale, offset)
    # One op resizes and cuts: the part that is cut away is never computed, and a picture of 1
    # by 30,000 pixels needs no memory for its long side.
    return tf.raw_ops.ScaleAndTranslate(
        images=tf.cast(image, tf.float32)[None],
        size=size,
        scale=scale,
        translation=-tf.cast(offset, tf.float32),
        kernel_type=_KERNELS[preprocessing.interpolation],
        antialias=True,
    )[0]


_KERNELS = {"bilinear": "triangle", "bicubic": "keyscubic"}


def _jpeg(encoded, window):
    size = headers.jpeg_size(encoded)
    encoded = headers.small_enough(encoded, size)
    orientation = headers.jpeg_orientation(encoded)

    def whole():
        image = tf.io.decode_jpeg(encoded, channels=3, dct_method="INTEGER_ACCURATE")
        return headers.upright(image, orientation)

    if window is None:
        return whole()
    return tf.cond(
        tf.equal(orientation, 1),
        lambda: tf.image.decode_and_crop_jpeg(
            encoded, window(size), channels=3, dct_method="INTEGER_ACCURATE"
        ),
        lambda: _cut(whole(), window),
    )


def _png(encoded):
    # As many channels as the file has: asked for 4, TensorFlow 2.21 gives wrong pixels for
    # palettes and for grey of 1, 2 or 4 bits.
    encoded = headers.small_enough(encoded, headers.png_size(encoded))
    return headers.upright(tf.io.decode_png(encoded, channels=0), headers.png_orientation(encoded))


def _gif(encoded):
    return tf.io.decode_gif(headers.small_enough(encoded, headers.gif_size(encoded)))[0]


def _bmp(encoded):
    return tf.io.decode_bmp(encoded, channels=0)[..., :3]


def _webp(encoded, head):
    # An extended file, "VP8X", has flags in byte 20; bit 1 is "animated".
    is_extended = tf.reduce_all(tf.equal(head[12:16], list(b"VP8X")))
    still = ~(is_extended & (head[20] % 4 >= 2))
    with tf.control_dependencies([tf.debugging.Assert(still, ["An animated WebP is not read."])]):
        encoded = headers.small_enough(encoded, headers.webp_size(encoded))
    return headers.upright(
        tf.io.decode_webp(encoded, channels=0)[0], headers.webp_orientation(encoded)
    )


def _cut(image, window):
    return image if window is None else cut(image, window(tf.shape(image)[:2]))


def _unknown():
    message = "The bytes are not a JPEG, PNG, GIF, BMP or WebP image."
    with tf.control_dependencies([tf.debugging.Assert(False, [message])]):
        return tf.zeros([1, 1, 3], tf.uint8)


def _colours(image):
    """Grey, grey and alpha, RGB or RGBA to RGB on white."""

    def colour():
        return tf.repeat(image[..., :1], 3, axis=-1)

    image = tf.switch_case(
        tf.shape(image)[-1] - 1,
        [
            colour,
            lambda: _on_white(colour(), image[..., 1:]),
            lambda: image,
            lambda: _on_white(image[..., :3], image[..., 3:]),
        ],
    )
    return tf.ensure_shape(image, [None, None, 3])


def _on_white(colour, alpha):
    """Composites, rounded to the nearest level as Pillow's paste does."""
    colour, alpha = tf.cast(colour, tf.int32), tf.cast(alpha, tf.int32)
    return tf.cast((colour * alpha + 255 * (255 - alpha) + 127) // 255, tf.uint8)


def _squash(shape, size, crop):
    """The whole picture at the model's size, whatever its shape."""
    return tf.constant(size), tf.constant((0, 0))


def _crop(shape, size, crop):
    """The short side at size / crop, and the centre of that.

    The roundings are those of torchvision's Resize and CenterCrop as timm calls them.
    """
    high, wide = (int(side / crop) for side in size)
    h, w = tf.unstack(tf.cast(shape, tf.int64))  # 30,000 times 80,000 is beyond int32
    by_height = high * w >= wide * h  # then the width is the side that is too long
    resized = tf.where(by_height, [high, high * w // h], [wide * h // w, wide])
    resized = tf.cast(resized, tf.int32)
    offset = tf.cast(tf.round(tf.cast(resized - tf.constant(size), tf.float64) / 2), tf.int32)
    return resized, offset


_RESIZES = {"squash": _squash, "crop": _crop}


def _nearest(image, size, scale, offset):
    picked = image
    for axis in (0, 1):
        place = tf.cast(tf.range(size[axis]) + offset[axis], tf.float32) + 0.5
        index = tf.cast(tf.floor(place / scale[axis]), tf.int32)
        picked = tf.gather(picked, tf.minimum(index, tf.shape(image)[axis] - 1), axis=axis)
    return tf.cast(picked, tf.float32)
