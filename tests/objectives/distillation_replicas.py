"""Distils on one device and on two, and writes how far the students end apart: a number.

`python distillation_replicas.py hard|soft jit|plain`, in float64. Batches of 4, 4 and 3, of which
two replicas get halves and 2 + 1; dropout is off, and the teacher's batch norm must stay.
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
keras.config.set_floatx("float64")

from keras_vit.objectives import (  # noqa: E402
    Distiller,
    HardDistillation,
    SoftDistillation,
    Teacher,
)
from keras_vit.step import exact  # noqa: E402
from tests.objectives.taught import convnet, seen, student  # noqa: E402

RANDOM = np.random.default_rng(7)
IMAGES = RANDOM.normal(size=(11, 4, 4, 1))
LABELS = RANDOM.dirichlet(np.ones(3), size=11)
LOSSES = {"hard": HardDistillation(label_smoothing=0.1), "soft": SoftDistillation(weight=0.4)}


def trained(loss, jit_compile=False):
    pupil = student()
    model = Distiller(pupil, Teacher(convnet(), seen(), pupil.preprocessing))
    exact(model, clip_norm=0.5)
    optimizer = keras.optimizers.SGD(0.2, momentum=0.9)
    model.compile(optimizer, loss, metrics=["accuracy"], jit_compile=jit_compile)
    numbers = model.fit(IMAGES, LABELS, 4, epochs=2, shuffle=False, verbose=0).history
    numbers = [*numbers["loss"], *numbers["accuracy"]]
    numbers += model.evaluate(IMAGES, LABELS, 4, verbose=0)
    return [weight.numpy() for weight in model.weights] + [np.array(numbers)]


one = trained(LOSSES[sys.argv[1]])
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    two = trained(LOSSES[sys.argv[1]], sys.argv[2] == "jit")
print(json.dumps(max(float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True))))
