"""What an image file says of itself before its pixels: size and EXIF orientation, in the graph.

Ops only, since the bytes signature of an exported model reads files too.
"""

import tensorflow as tf

# A larger picture is refused before memory is taken for it: Pillow's own limit, 89 million.
MOST_PIXELS = 2**30 // 12
# An orientation stands in the first part of a file; one with more parts in front is not read.
MOST_PARTS = 64
_UPRIGHT = 1
# Where the marks of EXIF data are looked for before the parts are walked through.
_FRONT = 2**16


def unsigned(encoded, position, count, big=True):
    """Returns the whole number of `count` bytes, 1 to 4, at a place in a file; 0 behind its end.

    Args:
        encoded: scalar string tensor.
        position: scalar int32.
        count: how many bytes.
        big: whether the first byte weighs most; may be a bool tensor.
    """
    padded = tf.strings.join([_bytes(encoded, position, count), b"\0" * count])
    values = tf.cast(tf.io.decode_raw(padded, tf.uint8)[:count], tf.int64)
    weights = [256**place for place in range(count)]
    return tf.reduce_sum(values * tf.where(big, tf.constant(weights[::-1], tf.int64), weights))


def jpeg_size(encoded):
    """Returns (height, width) of a JPEG, int32 `[2]`."""
    return tf.io.extract_jpeg_shape(encoded)[:2]


def png_size(encoded):
    """Returns (height, width) of a PNG, int64 `[2]`."""
    return tf.stack([unsigned(encoded, 20, 4), unsigned(encoded, 16, 4)])


def gif_size(encoded):
    """Returns (height, width) of a GIF, int64 `[2]`."""
    return tf.stack([unsigned(encoded, place, 2, big=False) for place in (8, 6)])


def webp_size(encoded):
    """Returns (height, width) of a still WebP, int64 `[2]`: each of its three kinds has its own."""
    whole = [unsigned(encoded, place, 3, big=False) + 1 for place in (27, 24)]
    lossy = [unsigned(encoded, place, 2, big=False) % 2**14 for place in (28, 26)]
    packed = unsigned(encoded, 21, 4, big=False)
    lossless = [packed // 2**14 % 2**14 + 1, packed % 2**14 + 1]
    kind = _bytes(encoded, 12, 4)
    return tf.where(
        tf.equal(kind, b"VP8X"), whole, tf.where(tf.equal(kind, b"VP8L"), lossless, lossy)
    )


def small_enough(encoded, size):
    """Returns the bytes after seeing that they do not unfold to more pixels than memory holds.

    Raises:
        tf.errors.InvalidArgumentError: when run, for more than `MOST_PIXELS`.
    """
    size = tf.cast(size, tf.int64)
    message = f"The picture has more than {MOST_PIXELS:,} pixels. Make it smaller first."
    fits = size[0] * size[1] <= MOST_PIXELS
    with tf.control_dependencies([tf.debugging.Assert(fits, [message, size])]):
        return tf.identity(encoded)


def jpeg_orientation(encoded):
    """Returns the EXIF orientation of a JPEG, int32 1 to 8; 1 (upright) where it says none."""

    def look(position):
        marker = unsigned(encoded, position, 2)
        exif = (marker == 0xFFE1) & tf.equal(_bytes(encoded, position + 4, 6), b"Exif\0\0")
        # Application segments and comments stand before the tables that the pixels need.
        more = ((marker >= 0xFFE0) & (marker <= 0xFFEF)) | (marker == 0xFFFE)
        following = position + 2 + _int32(unsigned(encoded, position + 2, 2))
        return exif, more, position + 10, following

    return _orientation(encoded, _has(encoded, b"Exif\0\0"), lambda: _found(look, start=2))


def png_orientation(encoded):
    """Returns the EXIF orientation of a PNG, from an `eXIf` chunk in front of the pixels."""

    def look(position):
        kind = _bytes(encoded, position + 4, 4)
        more = ~tf.equal(kind, b"IDAT") & ~tf.equal(kind, b"")
        following = position + 12 + _int32(unsigned(encoded, position, 4))
        return tf.equal(kind, b"eXIf"), more, position + 8, following

    return _orientation(encoded, _has(encoded, b"eXIf"), lambda: _found(look, start=8))


def webp_orientation(encoded):
    """Returns the EXIF orientation of a WebP, from its `EXIF` chunk."""

    def look(position):
        kind = _bytes(encoded, position, 4)
        size = _int32(unsigned(encoded, position + 4, 4, big=False))
        following = position + 8 + size + size % 2
        return tf.equal(kind, b"EXIF"), ~tf.equal(kind, b""), position + 8, following

    def place():
        found = _found(look, start=12)
        # Some programs put JPEG's six bytes in front.
        prefix = (found >= 0) & tf.equal(_bytes(encoded, found, 6), b"Exif\0\0")
        return tf.where(prefix, found + 6, found)

    # Only an extended file has such a chunk: bit 3 of the flags in byte 20.
    extended = tf.equal(_bytes(encoded, 12, 4), b"VP8X")
    return _orientation(encoded, extended & (unsigned(encoded, 20, 1) // 8 % 2 == 1), place)


def upright(image, orientation):
    """Turns an image as its EXIF orientation asks.

    Args:
        image: `[h, w, c]`.
        orientation: scalar int32, 1 to 8.
    """
    orientation = tf.convert_to_tensor(orientation)
    turned = tf.switch_case(orientation - 1, [lambda turn=turn: turn(image) for turn in _TURNS])
    return tf.ensure_shape(turned, [None, None, image.shape[-1]])


def _flipped(*axes):
    return lambda image: tf.reverse(image, axes)


def _on_its_side(*axes):
    return lambda image: tf.reverse(tf.transpose(image, (1, 0, 2)), axes)


# By orientation, from 1: what is stored becomes what was seen.
_TURNS = (
    tf.identity,
    _flipped(1),
    _flipped(0, 1),
    _flipped(0),
    lambda image: tf.transpose(image, (1, 0, 2)),
    _on_its_side(1),
    _on_its_side(0, 1),
    _on_its_side(0),
)


def _found(look, start):
    """The place of the EXIF data, -1 where there is none.

    Args:
        look: function of a part's place to (is it here, do parts follow, where, the next place).
        start: place of the first part.
    """

    def step(position, place):
        here, more, inside, following = look(position)
        # A damaged length may point back.
        more = more & (following > position)
        return tf.where(here | ~more, -1, following), tf.where(here, inside, place)

    _, place = tf.while_loop(
        lambda position, place: position >= 0,
        step,
        (tf.constant(start), tf.constant(-1)),
        maximum_iterations=MOST_PARTS,
    )
    return place


def _has(encoded, mark):
    """Whether the front of a file holds some bytes: one op, where the walk takes fifty."""
    front = tf.strings.substr(encoded, 0, _FRONT)
    pieces = tf.raw_ops.StringSplitV2(input=front[None], sep=mark, maxsplit=1)
    return pieces.shape[1] > 1


def _orientation(encoded, present, walk):
    """The orientation in the EXIF data that `walk` finds, if it is `present`."""
    return tf.cond(present, lambda: _in_tiff(encoded, walk()), lambda: tf.constant(_UPRIGHT))


def _in_tiff(encoded, place):
    """The orientation that the TIFF header at `place` leads to; upright for a place of -1."""
    big = tf.equal(_bytes(encoded, place, 2), b"MM")
    first = place + _int32(unsigned(encoded, place + 4, 4, big))
    count = _int32(unsigned(encoded, first, 2, big))
    entries = _bytes(encoded, first + 2, 12 * count)
    rows = tf.strings.length(entries) // 12
    table = tf.io.decode_raw(tf.strings.join([entries, b"\0" * 12]), tf.uint8)
    table = tf.cast(tf.reshape(table[: 12 * rows], [rows, 12]), tf.int32)
    # Tag 0x0112 of type 3, a short: bytes 0 to 1 and 2 to 3; the value stands in bytes 8 to 9.
    pairs = tf.where(
        big, table[:, ::2] * 256 + table[:, 1::2], table[:, 1::2] * 256 + table[:, ::2]
    )
    wanted = (pairs[:, 0] == 0x0112) & (pairs[:, 1] == 3)
    value = tf.reduce_max(tf.where(wanted, pairs[:, 4], 0))
    return tf.where((place >= 0) & (value >= 1) & (value <= 8), value, _UPRIGHT)


def _bytes(encoded, position, count):
    """Up to `count` bytes; fewer, or none, at the end of a file."""
    position = tf.clip_by_value(position, 0, tf.strings.length(encoded))
    return tf.strings.substr(encoded, position, count)


def _int32(value):
    """A length as int32; one beyond it is damage, and ends the walk as a step back would."""
    return tf.cast(tf.minimum(value, 2**30), tf.int32)
