"""How near a served artefact is to its Keras model, on images that travel with it."""

import keras
import numpy as np
import tensorflow as tf

from keras_vit.export.agreement import agreement
from keras_vit.export.calibration import random_images, spread

PROBE = "assets.extra/probe.npz"
COUNT = 4


def measured(model, path, images=None):
    """Compares a SavedModel with the Keras model, and leaves images and logits beside it.

    Args:
        model: Keras model in float32 with a `preprocessing`.
        path: the SavedModel's folder.
        images: raw pixels `[n, h, w, c]`; noise by default.

    Returns:
        An `Agreement`.
    """
    images = random_images(model.preprocessing, COUNT) if images is None else images
    images = np.round(images[spread(len(images), COUNT)]).astype("uint8")
    logits = model(model.preprocessing.normalize(images), training=False)
    logits = keras.ops.convert_to_numpy(logits)
    (path / PROBE).parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path / PROBE, images=images, logits=logits)
    return compared(tf.saved_model.load(str(path)).signatures["serving_uint8"], path)


def compared(signature, path):
    """Holds a loaded signature to the Keras model's logits that lie beside it.

    Args:
        signature: takes `images` in uint8.
        path: the folder with the probe.

    Returns:
        An `Agreement`.
    """
    with np.load(path / PROBE) as probe:
        images, logits = probe["images"], probe["logits"]
    return agreement(logits, signature(images=tf.constant(images))["logits"].numpy())
