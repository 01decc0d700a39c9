"""Trains a small CLIP on one device and on two, and writes how far they end apart: a number.

`python replicas.py contrastive|sigmoid jit|plain`. A process can hold one MirroredStrategy only.

In float64: what is the same mathematics is equal to many digits. The batches are of 4, 4 and 3
pairs, of which the two replicas get halves and 2 + 1.
"""

import json
import math
import sys

import keras
import numpy as np
import tensorflow as tf

# Before anything uses TensorFlow.
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

from keras_vit.models import CLIP, CLIPConfig  # noqa: E402
from keras_vit.objectives import ContrastiveLoss, SigmoidLoss  # noqa: E402
from keras_vit.step import exact  # noqa: E402

keras.config.set_floatx("float64")
CONFIG = {
    "image_size": 4,
    "patch_size": 2,
    "width": 6,
    "depth": 0,
    "num_heads": 2,
    "mlp_dim": 7,
    "text_width": 6,
    "text_depth": 1,
    "text_num_heads": 2,
    "text_mlp_dim": 5,
    "embedding_dim": 3,
    "vocabulary_size": 11,
    "context_length": 4,
    # At its bound from the start: each step of the optimizer clamps it.
    "logit_scale": math.log(15.0),
    "largest_scale": 15.0,
}
RANDOM = np.random.default_rng(7)
PAIRS = {
    "images": RANDOM.normal(size=(11, 4, 4, 3)),
    "texts": RANDOM.integers(0, 11, (11, 4), "int32"),
}


def trained(loss, clip_norm=None, jit_compile=False, **fields):
    keras.utils.set_random_seed(5)
    model = exact(CLIP(CLIPConfig(**CONFIG, **fields)), clip_norm=clip_norm)
    random = np.random.default_rng(3)
    for weight in model.weights:
        if weight.shape:
            weight.assign(random.normal(size=weight.shape) * 0.5)
    model.compile(keras.optimizers.SGD(0.2, momentum=0.9), loss, jit_compile=jit_compile)
    history = model.fit(PAIRS, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]
    numbers = [*history, model.evaluate(PAIRS, batch_size=4, verbose=0)]
    return [weight.numpy() for weight in model.weights] + [np.array(numbers)]


def difference(loss, jit_compile, **options):
    one = trained(loss, **options)
    with strategy.scope():
        two = trained(loss, **options, jit_compile=jit_compile)
    return max(float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True))


strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
LOSSES = {
    "contrastive": (ContrastiveLoss(), {}),
    "sigmoid": (SigmoidLoss(), {"clip_norm": 0.1, "logit_bias": -1.0}),
}
if __name__ == "__main__":
    loss, options = LOSSES[sys.argv[1]]
    print(json.dumps(difference(loss, sys.argv[2] == "jit", **options)))
