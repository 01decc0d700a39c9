"""Finds images that cannot be read before hours of training do."""

import dataclasses
import io
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import tensorflow as tf
from PIL import Image, UnidentifiedImageError

from keras_vit.data.decode import decode
from keras_vit.data.headers import MOST_PIXELS
from keras_vit.files import replacing

FORMATS = ("JPEG", "MPO", "PNG", "GIF", "BMP", "WEBP")  # MPO: a JPEG with further pictures


@dataclasses.dataclass(frozen=True)
class Scan:
    """What a scan found.

    Args:
        sizes: int `[n, 2]`, (height, width) of each image in pixels; (0, 0) where it is broken.
        broken: tuple of (index, name, reason), in order.
    """

    sizes: np.ndarray
    broken: tuple

    @property
    def usable(self):
        """Indices of the images that can be read."""
        broken = [index for index, _, _ in self.broken]
        return np.setdiff1d(np.arange(len(self.sizes)), broken)

    def summary(self, most=10):
        """Returns one sentence on the broken images, naming up to `most` of them."""
        total = len(self.broken)
        if not total:
            return f"All {len(self.sizes)} images can be read."
        named = "; ".join(f"{name}: {reason}" for _, name, reason in self.broken[:most])
        rest = f"; and {total - most} more" if total > most else ""
        return f"{total} of {len(self.sizes)} images cannot be read: {named}{rest}."


def scan(records, threads=8):
    """Opens every image and sees that it can be decoded to its end.

    Args:
        records: `Records`.
        threads: how many images are looked at at once.

    Returns:
        A `Scan`.
    """

    def look(index):
        try:
            return _look(records.read(index))
        except OSError as error:
            return (0, 0), f"cannot be opened ({error.strerror or error})"

    with warnings.catch_warnings(), ThreadPoolExecutor(threads) as pool:
        # Pillow warns from 89 million pixels on, and decoding refuses as many.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        # What else it warns of, such as a damaged EXIF block, harms no pixel.
        warnings.filterwarnings("ignore", category=UserWarning, module="PIL")
        found = list(pool.map(look, range(len(records))))
    sizes = np.array([size for size, _ in found], dtype="int64").reshape(-1, 2)
    broken = [(i, records.name(i), reason) for i, (_, reason) in enumerate(found) if reason]
    return Scan(sizes, tuple(broken))


def require_whole(records):
    """Scans the images and returns them if all can be read.

    Raises:
        ValueError: if one cannot be; names the broken ones.
    """
    found = scan(records)
    if found.broken:
        raise ValueError(found.summary())
    return records


def skip_broken(records, path):
    """Scans the images, leaves out the broken ones, and lists those in a file.

    Args:
        records: `Records`.
        path: file to write, one line an image: its name, a tab, the reason. Where every image
            is whole no file is left there.

    Returns:
        `(records, scan)`: those that can be read, and the `Scan`, whose `summary()` is for the
        user.

    Raises:
        ValueError: if a class has no image left.
    """
    found = scan(records)
    usable = records.select(found.usable)
    lost = np.flatnonzero((records.class_sizes > 0) & (usable.class_sizes == 0))
    if len(lost):
        names = [records.class_names[label] for label in lost]
        raise ValueError(f"No image can be read of the classes {names}. {found.summary()}")
    if found.broken:
        lines = [f"{name}\t{reason}\n" for _, name, reason in found.broken]
        with replacing(path) as temporary:
            temporary.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
    else:
        Path(path).unlink(missing_ok=True)
    return usable, found


def _look(encoded):
    """((height, width), None) of an image, or ((0, 0), why it is broken)."""
    if not encoded:
        return (0, 0), "the file is empty"
    try:
        with Image.open(io.BytesIO(encoded)) as image:
            reason = _unsupported(image)
            if not reason:
                _decode(image, encoded)
                return (image.height, image.width), None
    except UnidentifiedImageError:
        reason = "not an image"
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        reason = f"more than {MOST_PIXELS:,} pixels"
    except Exception:  # Pillow raises OSError, SyntaxError, struct.error, ... for damaged files
        reason = "damaged or cut short"
    return (0, 0), reason


def _unsupported(image):
    if image.format not in FORMATS:
        return f"a {image.format} file; JPEG, PNG, GIF, BMP and WebP are read"
    if image.format == "WEBP" and getattr(image, "is_animated", False):
        return "an animated WebP"
    if image.format == "BMP" and image.mode not in ("L", "RGB", "RGBA"):
        return "a BMP with a palette"
    return None


def _decode(image, encoded):
    """Decodes the way that training will, but JPEG at an eighth: four times as fast."""
    if image.format in ("JPEG", "MPO"):
        tf.io.decode_jpeg(encoded, channels=3, ratio=8)
    elif image.format == "PNG":
        image.load()  # the same libpng, without the cost of starting an op for a small image
    else:
        decode(encoded)
