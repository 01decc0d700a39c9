"""What the scenarios share: small models and data, training, and comparing.

They compute in float64: what is equal is equal to many digits, whatever the optimizer.
"""

import contextlib
import sys

import keras
import numpy as np
import tensorflow as tf

# Before anything uses TensorFlow.
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)

from keras_vit.step import exact  # noqa: E402

keras.config.set_floatx("float64")
REPLICAS = int(sys.argv[1])
STRATEGY = (
    tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(REPLICAS)])
    if REPLICAS > 1
    else None
)
RANDOM = np.random.default_rng(7)
X, Y = RANDOM.normal(size=(11, 5)), np.eye(3)[RANDOM.integers(3, size=11)]
WEIGHTS = np.linspace(0.3, 2.0, 11)
SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def strategy():
    return STRATEGY.scope() if STRATEGY else contextlib.nullcontext()


def dense(**options):
    """A classifier of two layers."""
    inputs = keras.Input((5,))
    hidden = keras.layers.Dense(7, "tanh", **options)(inputs)
    return keras.Model(inputs, keras.layers.Dense(3)(hidden))


def crossentropy():
    return keras.losses.CategoricalCrossentropy(from_logits=True)


def same_weights(model):
    """Weights that depend on the model's shapes only; seeds that depend on nothing."""
    random = np.random.default_rng(3)
    model.set_weights([random.normal(size=weight.shape) * 0.5 for weight in model.weights])
    return model


def built(make):
    keras.utils.set_random_seed(5)
    return same_weights(make())


def trained(model, optimizer, x=X, y=Y, loss=None, batch=4, epochs=3, **options):
    """Trains a model and returns it with its history."""
    fit = {name: options.pop(name) for name in ("sample_weight", "class_weight") if name in options}
    model.compile(optimizer, loss or crossentropy(), **options)
    history = model.fit(
        x, y, batch_size=batch, epochs=epochs, shuffle=False, verbose=0, **fit
    ).history
    return model, history


def both(make, optimizer, settings=(), options=(), plain_optimizer=None, **arguments):
    """Largest differences between plain Keras on one device and the exact step on all replicas."""
    plain, plain_history = trained(built(make), (plain_optimizer or optimizer)(), **arguments)
    with strategy():
        model = exact(built(make), **dict(settings))
        model, history = trained(model, optimizer(), **arguments, **dict(options))
    return {
        "weights": difference(plain.get_weights(), model.get_weights()),
        "history": difference(plain_history, history),
    }


def difference(one, other):
    one, other = keras.tree.flatten(one), keras.tree.flatten(other)
    return max(
        float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in zip(one, other, strict=True)
    )


def momentum():
    return keras.optimizers.SGD(0.5, momentum=0.9)


def adamw(**options):
    return keras.optimizers.AdamW(0.05, weight_decay=0.1, **options)


def per_replica(variable):
    if REPLICAS == 1:
        return [variable.numpy()]
    return [value.numpy() for value in STRATEGY.experimental_local_results(variable.value)]
