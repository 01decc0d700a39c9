"""Reads a `tf.train.Example` without copying its pixels: where each value lies.

TensorFlow's own parser reads whole records; an index over a million of them needs a few bytes of
each. The format is that of Protocol Buffers: a key (number and kind), then a value.
"""

_VARINT, _FIXED64, _SPAN, _FIXED32 = 0, 1, 2, 5


def example(data, start=0, stop=None):
    """Returns the features of one serialised example.

    Args:
        data: bytes, or a memory map.
        start: where the example begins in `data`.
        stop: where it ends.

    Returns:
        A dict of name to a list: of (start, stop) in `data` for bytes, of integers for integers.
        Real numbers are left out.

    Raises:
        ValueError: if it is no such example.
    """
    stop = len(data) if stop is None else stop
    try:
        return {
            name: values
            for _, features in _fields(data, start, stop)
            for _, entry in _fields(data, *features)
            for name, values in [_entry(data, *entry)]
        }
    except (IndexError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ValueError("The record is no tf.train.Example.") from error


def _entry(data, start, stop):
    """(name, values) of one feature."""
    parts = dict(_fields(data, start, stop))
    begin, end = parts[1]
    kinds = dict(_fields(data, *parts[2]))
    values = []
    if 1 in kinds:
        values = [span for _, span in _fields(data, *kinds[1])]
    elif 3 in kinds:
        for _, value in _fields(data, *kinds[3]):
            values += [_signed(value)] if isinstance(value, int) else _packed(data, *value)
    return bytes(data[begin:end]).decode("utf-8"), values


def _packed(data, position, stop):
    values = []
    while position < stop:
        value, position = _varint(data, position)
        values.append(_signed(value))
    return values


def _signed(value):
    return value - 2**64 if value >= 2**63 else value


def _fields(data, position, stop):
    """Yields (number, value): an integer, or (start, stop) of bytes."""
    while position < stop:
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, position = _varint(data, position)
        elif kind == _SPAN:
            size, position = _varint(data, position)
            value = (position, position + size)
            position += size
        else:
            size = {_FIXED64: 8, _FIXED32: 4}[kind]
            value = (position, position + size)
            position += size
        if position > stop:
            raise IndexError
        yield number, value


def _varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
