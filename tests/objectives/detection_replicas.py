"""Trains a tiny detector on one device and on two, and writes how far they end apart: a number.

`python detection_replicas.py jit|plain`. A process can hold one MirroredStrategy only.

In float64. The batches are of 4, 4 and 3 images, of which the two replicas get halves and 2 + 1;
the third image, and all images of one replica's share of the second batch, are without boxes.
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf

# Before anything uses TensorFlow.
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

from keras_vit.layers.anchors import anchor_boxes  # noqa: E402
from keras_vit.objectives import DetectionLoss  # noqa: E402
from keras_vit.step import exact  # noqa: E402

keras.config.set_floatx("float64")
SETTINGS = {"image_size": (16, 16), "levels": (3, 3), "scales": 1, "aspects": (1.0,), "size": 1.5}
CELLS, CLASSES = len(anchor_boxes(**SETTINGS)), 3
RANDOM = np.random.default_rng(7)
IMAGES = RANDOM.normal(size=(11, 16, 16, 3))
CORNERS = np.sort(RANDOM.uniform(size=(11, 2, 2, 2)), axis=2).reshape(11, 2, 4)
LABELS = RANDOM.integers(0, CLASSES, (11, 2))
LABELS[:, 1] = np.where(np.arange(11) % 2, LABELS[:, 1], -1)
LABELS[[2, 6, 7]] = -1


def detector():
    """One convolution for each output: what is under test is the loss."""
    keras.utils.set_random_seed(5)
    images = keras.Input((16, 16, 3))
    outputs = {}
    for name, size in (("deltas", 4), ("logits", CLASSES)):
        x = keras.layers.Conv2D(size, 8, 8, name=name)(images)
        outputs[name] = keras.layers.Reshape((CELLS, size))(x)
    return exact(keras.Model(images, outputs), clip_norm=2.0)


def trained(jit_compile):
    model = detector()
    model.compile(
        keras.optimizers.SGD(0.05, momentum=0.9), DetectionLoss(**SETTINGS), jit_compile=jit_compile
    )
    y = {"boxes": CORNERS, "labels": LABELS}
    history = model.fit(IMAGES, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]
    numbers = [*history, model.evaluate(IMAGES, y, batch_size=4, verbose=0)]
    return [*numbers, *(np.array(weight) for weight in model.weights)]


jit = sys.argv[1] == "jit"
one = trained(jit)
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    two = trained(jit)
print(json.dumps(max(float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True))))
