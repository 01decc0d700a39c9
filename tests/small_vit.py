"""A small ViT that knows scikit-learn's digits a little, at once: for tests of whole artefacts."""

import keras
import numpy as np
from sklearn.datasets import load_digits

from keras_vit import create_model
from keras_vit.export import PROFILES, export

SIZES = {"width": 24, "depth": 2, "num_heads": 3, "mlp_dim": 48, "num_classes": 10}
# A class token that was never trained is too small for 8 bits beside the patches.
POOLING = {"pooling": "gap", "class_token": False}


def digit_images(size=(16, 16), channels=1):
    """(raw pixels 0 to 255 `[1797, h, w, c]` in uint8, labels) of scikit-learn's digits."""
    digits = load_digits()
    small = np.round(digits.images * (255 / 16)).astype("uint8")[..., None]
    rows, columns = size[0] // 8, size[1] // 8
    pixels = small.repeat(rows, axis=1).repeat(columns, axis=2).repeat(channels, axis=3)
    return pixels, digits.target


def small_vit(image_size=(16, 16), patch_size=(4, 4), channels=1, dtype=None, **fields):
    """A ViT of two blocks: random, with a head that is fitted to the digits' features.

    A head as it is created is zero, and every artefact would agree with it.
    """
    model = create_model(
        "vit_ti16",
        dtype=dtype,
        image_size=image_size,
        patch_size=patch_size,
        channels=channels,
        **{**SIZES, **POOLING, **fields},
        preprocessing={
            "mean": (0.3, 0.4, 0.5)[:channels],
            "std": (0.35, 0.3, 0.25)[:channels],
            "class_names": [f"digit {number}" for number in range(10)],
        },
    )
    pixels, labels = digit_images(image_size, channels)
    pixels, labels = pixels[:1000], labels[:1000]
    features = model.features(model.preprocessing.normalize(pixels))["pooled"]
    features = keras.ops.convert_to_numpy(keras.ops.cast(features, "float32"))
    mean = features.mean(axis=0)
    centred, targets = features - mean, 10 * np.eye(10)[labels] - 1
    penalty = 0.01 * len(labels) * np.eye(features.shape[1]) * centred.var()
    kernel = np.linalg.solve(centred.T @ centred + penalty, centred.T @ targets)
    model.get_layer("head").set_weights([kernel, -mean @ kernel])
    return model


class Artefacts:
    """`artefacts["npu"]` is the path of that profile's export of `artefacts.model`."""

    def __init__(self, folder):
        self.folder, self.model, self.paths = folder, small_vit(), {}
        self.pixels, self.labels = digit_images()

    def __getitem__(self, name):
        if name not in self.paths:
            path = self.folder / f"{name}{PROFILES[name].ending}"
            self.paths[name] = export(self.model, name, path, calibration=self.pixels[:200])
        return self.paths[name]
