"""One more entry in a `.tflite`'s metadata, without packing the file anew.

A flatbuffer holds offsets that point forward, each from its own place. So a new root table may
stand in front of everything and point at the old parts where they are: what is in the file is
moved as one piece, by a multiple of 16 bytes that keeps every constant aligned as it was, and no
byte of it changes. (The generated Python classes, which pack everything anew, lose the alignment.)
"""

import struct

IDENTIFIER = b"TFL3"
# Fields of the schema's `Model`. All but the first are offsets.
VERSION, BUFFERS, METADATA = 0, 4, 6
ALIGNMENT = 16


def with_metadata(content, name, data):
    """Returns the bytes of a `.tflite` with an entry added to its metadata.

    Args:
        content: bytes of a `.tflite`.
        name: the entry's name.
        data: its bytes.

    Raises:
        ValueError: if `content` is no TFLite file, or has an entry of that name.
    """
    if content[4:8] != IDENTIFIER:
        raise ValueError("`content` must be a TFLite file.")
    old = _Root(content)
    buffers, entries = old.vector(BUFFERS), old.vector(METADATA)
    if name.encode() in [_first_text(content, entry) for entry in entries]:
        raise ValueError(f"`name` must be new. Received: {name!r}, which the file has.")
    count = max(old.count, METADATA + 1)
    front = _Front(count, len(buffers) + 1, len(entries) + 1, len(name.encode()), len(data))
    places, end = front.places, front.places["end"]
    fields = {number: end + old.target(number) for number in range(1, count) if old.has(number)}
    fields |= {BUFFERS: places["buffers"], METADATA: places["entries"]}
    front.write("I4s", 0, places["root"], IDENTIFIER)
    front.table("root", [number == VERSION or number in fields for number in range(count)])
    front.write("I", places["root"] + 4, old.version())
    for index, number in enumerate(sorted(fields)):
        front.point(places["root"] + 8 + 4 * index, fields[number])
    front.vector("buffers", [*(end + place for place in buffers), places["buffer"]])
    front.vector("entries", [*(end + place for place in entries), places["entry"]])
    front.table("buffer", [True])
    front.point(places["buffer"] + 4, places["data"])
    front.table("entry", [True, True])
    front.point(places["entry"] + 4, places["name"])
    front.write("I", places["entry"] + 8, len(buffers))
    for key, value in (("name", name.encode()), ("data", data)):
        front.write(f"I{len(value)}s", places[key], len(value), value)
    return bytes(front.content) + content


class _Front:
    """What comes before the old file; the arguments are those of `_places`."""

    def __init__(self, *sizes):
        self.places = _places(*sizes)
        self.content = bytearray(self.places["end"])

    def write(self, form, place, *values):
        struct.pack_into("<" + form, self.content, place, *values)

    def point(self, place, target):
        self.write("I", place, target - place)

    def vector(self, key, targets):
        self.write("I", self.places[key], len(targets))
        for index, target in enumerate(targets):
            self.point(self.places[key] + 4 + 4 * index, target)

    def table(self, key, fields):
        """A table's start and its vtable; fields that are there stand 4 bytes apart."""
        start, vtable = self.places[key], self.places[f"{key} vtable"]
        offsets = [(4 + 4 * sum(fields[:number])) * there for number, there in enumerate(fields)]
        sizes = (4 + 2 * len(fields), 4 + 4 * sum(fields))
        self.write(f"HH{len(fields)}H", vtable, *sizes, *offsets)
        self.write("i", start, start - vtable)


def _places(fields, buffers, entries, name, data):
    """Where each part of the front stands: what points before what it points at."""
    sizes = {
        "head": 8,
        "root vtable": 4 + 2 * fields,
        "root": 4 + 4 * fields,
        "buffers": 4 + 4 * buffers,
        "entries": 4 + 4 * entries,
        "buffer vtable": 6,
        "buffer": 8,
        "entry vtable": 8,
        "entry": 12,
        "name": 4 + name + 1,
        "data": 4 + data,
    }
    places, end = {}, 0
    for key, size in sizes.items():
        # The bytes of a vector are what must be aligned, behind its length.
        behind = 4 if key == "data" else 0
        step = ALIGNMENT if key == "data" else 4
        end += -(end + behind) % step
        places[key] = end
        end += size
    return {**places, "end": end + -end % ALIGNMENT}


class _Root:
    """The root table of a file: where its fields point."""

    def __init__(self, content):
        self.content = content
        self.table = _number(content, 0)
        self.vtable = self.table - struct.unpack_from("<i", content, self.table)[0]
        self.count = (struct.unpack_from("<H", content, self.vtable)[0] - 4) // 2

    def place(self, number):
        """Where a field stands, 0 for one that is left out."""
        if number >= self.count:
            return 0
        offset = struct.unpack_from("<H", self.content, self.vtable + 4 + 2 * number)[0]
        return offset and self.table + offset

    def has(self, number):
        return bool(self.place(number))

    def version(self):
        return _number(self.content, self.place(VERSION)) if self.has(VERSION) else 0

    def target(self, number):
        return _followed(self.content, self.place(number))

    def vector(self, number):
        """Places of the tables in a vector."""
        if not self.has(number):
            return []
        start = self.target(number)
        places = range(start + 4, start + 4 + 4 * _number(self.content, start), 4)
        return [_followed(self.content, place) for place in places]


def _number(content, place):
    return struct.unpack_from("<I", content, place)[0]


def _followed(content, place):
    return place + _number(content, place)


def _first_text(content, table):
    """The bytes of a table's first field, a text."""
    vtable = table - struct.unpack_from("<i", content, table)[0]
    start = _followed(content, table + struct.unpack_from("<H", content, vtable + 4)[0])
    return content[start + 4 : start + 4 + _number(content, start)]
