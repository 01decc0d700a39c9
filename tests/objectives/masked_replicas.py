"""Trains a masked autoencoder on one device and on two, and writes how far they end apart.

`python masked_replicas.py jit|plain`, in float64. The masking follows from the images (the noise is
the mean of each patch), since what is drawn differs from replica to replica; batches of 4, 4 and 3.
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf
from keras import ops

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
keras.config.set_floatx("float64")

from keras_vit.layers.masking import PatchNoise  # noqa: E402
from keras_vit.models import MAE, MAEConfig  # noqa: E402
from keras_vit.objectives import MaskedPixelLoss  # noqa: E402
from keras_vit.step import exact  # noqa: E402
from tests.objectives.test_masked_pixels import SMALL  # noqa: E402

IMAGES = np.random.default_rng(7).normal(size=(11, 4, 6, 3))


def by_images(self, patches, training=False):
    return ops.cast(ops.mean(patches, axis=-1), "float32")


def trained(jit_compile=False):
    keras.utils.set_random_seed(5)
    model = exact(MAE(MAEConfig(**SMALL)), clip_norm=0.5)
    random = np.random.default_rng(3)
    for weight in model.trainable_weights:
        weight.assign(random.normal(size=weight.shape) * 0.5)
    optimizer = keras.optimizers.SGD(0.2, momentum=0.9)
    model.compile(optimizer, MaskedPixelLoss(), jit_compile=jit_compile)
    history = model.fit(IMAGES, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]
    numbers = [*history, model.evaluate(IMAGES, batch_size=4, verbose=0)]
    return [weight.numpy() for weight in model.weights] + [np.array(numbers)]


PatchNoise.call = by_images
one = trained()
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    two = trained(sys.argv[1] == "jit")
difference = max(float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True))
print(json.dumps(difference))
