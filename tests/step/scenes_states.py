"""Random numbers and states."""

import keras
import numpy as np
from losses import SquareSum
from scene import (
    REPLICAS,
    X,
    built,
    difference,
    momentum,
    per_replica,
    scenario,
    strategy,
    trained,
)

from keras_vit.step import exact
from tests.scaled_dropout import Scaled


def dropped():
    inputs = keras.Input((61,))
    return keras.Model(inputs, Scaled()(inputs))


@scenario
def pairwise_with_dropout():
    """Half the square of the outputs: where both passes draw the same mask, the gradient by the
    scales sums up to twice the loss."""
    with strategy():
        model = exact(dropped(), accumulate=2)
        model.compile(keras.optimizers.SGD(1.0), SquareSum())
        loss = model.train_on_batch(np.ones((8, 61))) if REPLICAS == 1 else fit_loss(model)
    gradient = 1 - model.get_weights()[0]
    return {"difference": abs(gradient.sum() - 2 * loss), "loss": float(loss)}


def fit_loss(model):
    return model.fit(np.ones((8, 61)), batch_size=8, verbose=0).history["loss"][0]


def seeds(model):
    return [v for v in model.variables if v.name == "seed_generator_state"]


@scenario
def dropout():
    """All inputs are one: a scale's gradient is the mean over the batch of its mask, 0 or 2."""
    runs = []
    for jit in (False, False, True):
        with strategy():
            model = exact(dropped())
            model.compile(
                keras.optimizers.SGD(1.0), keras.losses.MeanAbsoluteError(), jit_compile=jit
            )
            model.fit(np.ones((4, 61)), np.full((4, 61), -1.0), batch_size=4, verbose=0)
        # The mean absolute error is also a mean over the 61 features.
        runs.append((1 - model.get_weights()[0]) * 61)
        counters = [local[1] for seed in seeds(model) for local in per_replica(seed)]
    return {
        "masks": runs[0].tolist(),
        "again": difference(runs[0], runs[1]),
        "compiled": runs[2].tolist(),
        "counters": [int(counter) for counter in counters],
    }


@scenario
def dropout_under_one_device():
    """On one device the masks are Keras's, in one piece."""
    plain, _ = trained(dropped(), momentum(), np.ones((4, 61)), np.zeros((4, 61)), "mse")
    model, _ = trained(exact(dropped()), momentum(), np.ones((4, 61)), np.zeros((4, 61)), "mse")
    return {"weights": difference(plain.get_weights(), model.get_weights())}


@scenario
def batch_normalization():
    """Moving averages are the mean of the replicas', weighted by their numbers of examples."""

    def make():
        inputs = keras.Input((5,))
        return keras.Model(inputs, keras.layers.BatchNormalization(momentum=0.6)(inputs))

    with strategy():
        model = exact(built(make))
        moving = model.layers[1].moving_mean
        moving.assign(np.zeros(5))
        trained(model, momentum(), X[:7], X[:7], "mse", batch=7, epochs=1)
    locals_ = per_replica(moving)
    return {
        "spread": max(difference(value, locals_[0]) for value in locals_),
        "error": difference(locals_[0], 0.4 * X[:7].mean(axis=0)),
    }
