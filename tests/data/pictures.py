"""Small image files of every kind, made by Pillow."""

import io
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps


def noise(*shape, seed=0, dtype="uint8"):
    return np.random.RandomState(seed).randint(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


def smooth(height, width, channels=3):
    """A picture with structure: slow waves, different in each channel."""
    y, x = np.mgrid[:height, :width].astype("float64")
    waves = [np.sin(y / (5 + c)) + np.cos(x / (7 - c)) for c in range(channels)]
    return np.uint8(np.clip(127 + 60 * np.stack(waves, -1), 0, 255))


def photograph(height, width, channels=3, seed=0):
    """A picture like a photograph: large shapes, finer and fainter detail, and sharp edges."""
    random = np.random.RandomState(seed)
    total = np.zeros((height, width, channels))
    for cells in (2, 3, 7, 17):
        coarse = noise(cells, cells, channels, seed=random.randint(2**31))
        bands = [
            np.asarray(Image.fromarray(coarse[..., c]).resize((width, height), 3), "float64")
            for c in range(channels)
        ]
        total += (np.stack(bands, -1) - 127.5) / cells**0.5
    y, x = np.mgrid[:height, :width]
    total[(y > height * 0.6) & (x < width * 0.3)] -= 60  # a dark thing in the lower left
    return np.uint8(np.clip(127.5 + total * 0.7, 0, 255))


def in_every_form(picture):
    """One photograph in every orientation, mode and format, by name.

    Args:
        picture: uint8 `[h, w, 3]`.
    """
    image = Image.fromarray(picture)
    alpha = Image.fromarray(photograph(*picture.shape[:2], 1, seed=9)[..., 0])
    opaque_in_part = image.copy()
    opaque_in_part.putalpha(alpha)
    grey_in_part = Image.merge("LA", (image.convert("L"), alpha))
    files = {
        "jpeg grey": encode(image.convert("L"), "JPEG"),
        "jpeg cmyk": encode(image.convert("CMYK"), "JPEG", quality=95),
        "jpeg progressive": encode(image, "JPEG", progressive=True),
        "png grey": encode(image.convert("L"), "PNG"),
        "png grey and alpha": encode(grey_in_part, "PNG"),
        "png alpha": encode(opaque_in_part, "PNG"),
        "png palette": encode(image.quantize(32), "PNG"),
        "png palette and alpha": encode(image.quantize(32), "PNG", transparency=3),
        "png bits": encode(image.convert("1"), "PNG"),
        "png 16 bits": encode(np.uint16(np.asarray(image.convert("L"))) * 257, "PNG"),
        "webp lossless alpha": encode(opaque_in_part, "WEBP", lossless=True, exact=True),
        "gif": encode(image.quantize(64), "GIF"),
        "bmp": encode(image, "BMP"),
    }
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        for kind in ("JPEG", "PNG", "WEBP"):
            files[f"{kind.lower()} {orientation}"] = encode(image, kind, exif=exif)
    return files


def encode(image, kind, **options):
    """The bytes of a file; `image` is an array or a Pillow image."""
    image = image if isinstance(image, Image.Image) else Image.fromarray(image)
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def claiming(kind, width, height):
    """A small file that says that it is large: a decompression bomb before it goes off."""
    encoded = bytearray(
        encode(smooth(21, 13), kind, **({"lossless": True} if kind == "WEBP" else {}))
    )
    if kind == "JPEG":
        start = encoded.index(b"\xff\xc0") + 5
        encoded[start : start + 4] = struct.pack(">HH", height, width)
    elif kind == "PNG":
        encoded[16:24] = struct.pack(">II", width, height)
        encoded[29:33] = struct.pack(">I", zlib.crc32(encoded[12:29]))
    elif kind == "GIF":
        encoded[6:10] = struct.pack("<HH", width, height)
    else:
        encoded[21:25] = struct.pack("<I", (width - 1) | (height - 1) << 14)
    return bytes(encoded)


def as_rgb(encoded):
    """What Pillow reads, the right way up, with transparency on white."""
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(encoded)))
    if image.mode.startswith("I"):
        return np.repeat(np.uint8(np.asarray(image) >> 8)[..., None], 3, axis=-1)
    if image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        ground = Image.new("RGB", image.size, "white")
        ground.paste(image, mask=image.getchannel("A"))
        image = ground
    return np.asarray(image.convert("RGB"))


def write_folder(folder, counts, size=(6, 5), channels=3):
    """An image folder: class name to number of PNG files, all different."""
    seed = 0
    for name, count in counts.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            seed += 1
            pixels = noise(*size, channels, seed=seed).squeeze()
            (folder / name / f"{number:03}.png").write_bytes(encode(pixels, "PNG"))
    return folder
