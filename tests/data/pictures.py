"""Small image files of every kind, made by Pillow."""

import io

import numpy as np
from PIL import Image


def noise(*shape, seed=0, dtype="uint8"):
    return np.random.RandomState(seed).randint(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


def smooth(height, width, channels=3):
    """A picture with structure: slow waves, different in each channel."""
    y, x = np.mgrid[:height, :width].astype("float64")
    waves = [np.sin(y / (5 + c)) + np.cos(x / (7 - c)) for c in range(channels)]
    return np.uint8(np.clip(127 + 60 * np.stack(waves, -1), 0, 255))


def encode(image, kind, **options):
    """The bytes of a file; `image` is an array or a Pillow image."""
    image = image if isinstance(image, Image.Image) else Image.fromarray(image)
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def as_rgb(encoded):
    """What Pillow reads, with transparency on white."""
    image = Image.open(io.BytesIO(encoded))
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
