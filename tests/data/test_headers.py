import io
import struct

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.data import decode, headers
from tests.data.pictures import claiming, encode, smooth

PICTURE = Image.fromarray(smooth(21, 13))
READERS = {
    "JPEG": headers.jpeg_orientation,
    "PNG": headers.png_orientation,
    "WEBP": headers.webp_orientation,
}


def exif(orientation, kind=3, big=False):
    """EXIF data by hand: a TIFF header and three entries, the orientation in the middle."""
    order = ">" if big else "<"
    value = struct.pack(order + {1: "B3x", 3: "H2x", 4: "I"}[kind], orientation)
    data = struct.pack(order + "2sHIH", b"MM" if big else b"II", 42, 8, 3)
    data += struct.pack(order + "HHII", 0x010F, 3, 1, 6)
    data += struct.pack(order + "HHI", 0x0112, kind, 1) + value
    return data + struct.pack(order + "HHII", 0x0213, 3, 1, 8) + b"\0" * 4


def jpeg(*segments):
    """A JPEG with (marker, content) segments in front of what Pillow writes."""
    plain = encode(PICTURE, "JPEG")
    made = [struct.pack(">HH", marker, len(data) + 2) + data for marker, data in segments]
    return plain[:2] + b"".join(made) + plain[2:]


@pytest.fixture(scope="module")
def read():
    spec = [tf.TensorSpec([], tf.string)]
    graphs = {
        kind: tf.function(reader, input_signature=spec, autograph=False)
        for kind, reader in READERS.items()
    }
    return lambda kind, encoded: int(graphs[kind](encoded))


@pytest.mark.parametrize("kind", READERS)
def test_what_pillow_writes(kind, read):
    assert read(kind, encode(PICTURE, kind)) == 1
    for orientation in range(10):
        for big in (False, True):
            encoded = encode(PICTURE, kind, exif=b"Exif\0\0" + exif(orientation, big=big))
            assert Image.open(io.BytesIO(encoded)).getexif()[0x0112] == orientation
            assert read(kind, encoded) == (orientation if 1 <= orientation <= 8 else 1)


@pytest.mark.parametrize(
    "segments, expected",
    [
        ([(0xFFE1, b"http://ns.adobe.com/xap/1.0/\0<x/>"), (0xFFE1, b"Exif\0\0" + exif(6))], 6),
        ([(0xFFFE, b"a comment")] * 9 + [(0xFFE1, b"Exif\0\0" + exif(8, big=True))], 8),
        ([(0xFFE2, b"\xff\xe1\0\x40Exif\0\0" + exif(3))], 1),  # inside another segment
        ([(0xFFE1, b"Exif\0\0" + exif(6)[:17])], 1),  # cut in the middle of an entry
        ([(0xFFE1, b"Exif\0\0")], 1),
        ([(0xFFE1, b"Exif\0\0" + exif(6, kind=4))], 1),  # the standard has a short there
        ([(0xFFE1, b"Exif\0\0II*\0\xff\xff\xff\x7f")], 1),  # entries behind the end of the file
    ],
    ids=["after XMP", "after comments", "in another", "cut", "empty", "a long", "behind the end"],
)
def test_segments_of_a_jpeg(segments, expected, read):
    assert read("JPEG", jpeg(*segments)) == expected


def test_a_webp_with_jpegs_prefix_and_one_without(read):
    encoded = encode(PICTURE, "WEBP", exif=exif(6))
    assert b"Exif\0\0" not in encoded and read("WEBP", encoded) == 6
    place = encoded.index(b"EXIF")
    data = b"Exif\0\0" + exif(6)
    longer = encoded[:place] + b"EXIF" + struct.pack("<I", len(data)) + data
    assert read("WEBP", longer) == 6


@pytest.mark.parametrize(
    "encoded", [b"", b"\xff\xd8", b"\xff\xd8\xff\xe1", b"\xff\xd8\xff\xe1\0\0"]
)
def test_files_that_end_early(encoded, read):
    for kind in READERS:
        assert read(kind, encoded + b"Exif\0\0eXIf") == 1
        assert read(kind, encoded) == 1


def test_turning_is_pillows():
    pixels = smooth(5, 3)
    turns = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}  # Pillow's Transpose
    for orientation in range(1, 9):
        expected = Image.fromarray(pixels)
        if orientation > 1:
            expected = expected.transpose(Image.Transpose(turns[orientation]))
        np.testing.assert_array_equal(headers.upright(tf.constant(pixels), orientation), expected)


def test_sizes():
    grey = PICTURE.convert("RGBA")
    files = {
        headers.jpeg_size: [encode(PICTURE, "JPEG")],
        headers.png_size: [encode(PICTURE, "PNG")],
        headers.gif_size: [encode(PICTURE.quantize(9), "GIF")],
        headers.webp_size: [
            encode(PICTURE, "WEBP"),
            encode(PICTURE, "WEBP", lossless=True),
            encode(PICTURE, "WEBP", exif=exif(1)),
            encode(grey, "WEBP"),
        ],
    }
    for size, encoded in files.items():
        assert [tuple(np.array(size(one))) for one in encoded] == [(21, 13)] * len(encoded)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
def test_a_decompression_bomb_is_refused(kind):
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 89,478,485 pixels"):
        decode(claiming(kind, *((16_383, 16_383) if kind == "WEBP" else (30_000, 20_000))))
