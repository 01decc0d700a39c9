"""Small teachers and students of grey or coloured pictures."""

import keras
import numpy as np

from keras_vit.layers import Preprocessing
from keras_vit.models import DeiT, ViTConfig

CLASSES = ("coat", "shirt", "shoe")
SIZES = {"patch_size": 2, "width": 8, "depth": 1, "num_heads": 2, "mlp_dim": 12, "num_classes": 3}


def randomised(model, seed=3):
    random = np.random.default_rng(seed)
    for weight in model.weights:
        weight.assign(random.normal(size=weight.shape) * 0.4 + (weight.name == "gamma"))
    return model


def student(kind=DeiT, channels=1, size=4, names=CLASSES, dtype=None, **more):
    if kind is DeiT:
        more = {"registers": 1, "class_position": False, **more}
    given = Preprocessing(mean=(0.3,) * channels, std=(0.4,) * channels, class_names=names)
    fields = {**SIZES, "image_size": size, "channels": channels, "preprocessing": given, **more}
    return randomised(kind(ViTConfig(**fields), dtype=dtype))


def convnet(channels=3, size=6, activation=None, classes=3):
    """A foreign model, with layers that are noisy in training."""
    inputs = keras.Input((size, size, channels))
    x = keras.layers.Conv2D(5, 3, strides=2)(inputs)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.Dropout(0.5)(keras.layers.GlobalAveragePooling2D()(x))
    model = keras.Model(inputs, keras.layers.Dense(classes, activation=activation)(x))
    random = np.random.default_rng(8)
    for weight in model.weights:
        weight.assign(random.uniform(0.2, 1.0, size=weight.shape))
    return model


def seen(channels=3, size=6, mean=0.0, std=1 / 255, names=()):
    return Preprocessing(
        image_size=size, mean=(mean,) * channels, std=(std,) * channels, class_names=names
    )
