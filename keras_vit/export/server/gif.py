"""The first frame of a GIF: TensorFlow's decoder unfolds all of them to give that one."""

_EXTENSION, _IMAGE, _END = 0x21, 0x2C, b"\x3b"


def first_frame(encoded):
    """Returns a GIF without what follows its first frame; other bytes as they are.

    A small file can hold thousands of large frames, more than any memory takes.

    Args:
        encoded: bytes of a file.

    Example:

    >>> first_frame(b"no GIF")
    b'no GIF'
    """
    if not encoded.startswith(b"GIF8") or len(encoded) < 13:
        return encoded
    place = 13 + _table(encoded[10])
    while place < len(encoded):
        if encoded[place] == _EXTENSION:
            place = _behind_blocks(encoded, place + 2)
        elif encoded[place] == _IMAGE and place + 9 < len(encoded):
            # The descriptor, a table of colours, one byte for the compression, the pixels.
            place = _behind_blocks(encoded, place + 10 + _table(encoded[place + 9]) + 1)
            return encoded[:place] + _END
        else:
            break
    return encoded[:place]


def _table(flags):
    """The bytes of a table of colours, which bit 7 says is there."""
    return 3 * 2 ** (flags % 8 + 1) if flags & 0x80 else 0


def _behind_blocks(encoded, place):
    """The place behind blocks that each begin with their length; the last is empty."""
    while place < len(encoded) and encoded[place]:
        place += 1 + encoded[place]
    return place + 1
