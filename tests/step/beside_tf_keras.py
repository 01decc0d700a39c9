"""The same small training by Keras 3 with the exact step, or by tf_keras: `keras` or `tf_keras`.

`python beside_tf_keras.py PACKAGE` prints a line of JSON: case -> weights and history of two
replicas. A process can hold one of the two packages' settings only.
"""

import importlib
import json
import sys

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

RANDOM = np.random.default_rng(7)
# Batches of 4, 4 and 2: each replica has as many as the other, where tf_keras is right.
X = RANDOM.normal(size=(10, 5, 7, 2)).astype("float32")
Y = np.eye(3, dtype="float32")[RANDOM.integers(3, size=10)]
# What tf_keras's optimizer is given, and what the exact step is.
CASES = {"momentum": ({}, {}), "clipped": ({"global_clipnorm": 0.3}, {"clip_norm": 0.3})}


def model_of(keras):
    inputs = keras.Input((5, 7, 2))
    hidden = keras.layers.Conv2D(3, 3, activation="tanh")(inputs)
    hidden = keras.layers.Dense(11, "tanh")(keras.layers.Flatten()(hidden))
    return keras.Model(inputs, keras.layers.Dense(3)(hidden))


def trained(name, optimizer_options, step_options):
    keras, options = importlib.import_module(name), optimizer_options
    with STRATEGY.scope():
        model = model_of(keras)
        if name == "keras":
            from keras_vit.step import exact

            model, options = exact(model, **step_options), {}
        random = np.random.default_rng(3)
        model.set_weights([random.normal(size=w.shape) * 0.5 for w in model.get_weights()])
        loss = keras.losses.CategoricalCrossentropy(from_logits=True)
        optimizer = keras.optimizers.SGD(0.3, momentum=0.9, **options)
        model.compile(optimizer, loss, metrics=["accuracy"])
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    history = model.fit(data, epochs=3, verbose=0).history
    return {
        "weights": np.concatenate([w.ravel() for w in model.get_weights()]).tolist(),
        "loss": history["loss"],
        "accuracy": history["accuracy"],
    }


STRATEGY = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
print(json.dumps({case: trained(sys.argv[1], *options) for case, options in CASES.items()}))
