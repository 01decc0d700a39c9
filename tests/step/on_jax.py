"""The step's settings, and rematerialised blocks, on the JAX backend."""

import sys

import jax
import keras
import numpy as np

from keras_vit.layers import TransformerBlock
from keras_vit.step import averaged, exact

assert "tensorflow" not in sys.modules
X, Y = np.linspace(-1, 1, 33, dtype="float32").reshape(11, 3), np.ones((11, 2), "float32")


def dense():
    keras.utils.set_random_seed(1)
    inputs = keras.Input((3,))
    return keras.Model(inputs, keras.layers.Dense(2)(inputs))


def trained(model, **options):
    model.compile(keras.optimizers.SGD(0.5, **options), "mse")
    model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    return model


def same(one, other):
    for a, b in zip(one, other, strict=True):
        assert np.abs(np.asarray(a) - np.asarray(b)).max() <= 2e-6 * np.abs(np.asarray(a)).max()


def check_settings():
    plain = trained(dense(), global_clipnorm=0.1, use_ema=True, ema_momentum=0.6)
    raw = trained(dense(), global_clipnorm=0.1)
    model = trained(exact(dense(), clip_norm=0.1, ema=0.6))
    same(raw.get_weights(), model.get_weights())
    with averaged(model):
        same(plain.get_weights(), model.get_weights())
    try:
        exact(dense(), accumulate=2)
    except ValueError as error:
        assert "gradient_accumulation_steps" in str(error)
    else:
        raise AssertionError("not refused")


def gradients(remat):
    keras.utils.set_random_seed(4)
    block = TransformerBlock(
        2, 11, dropout=0.3, attention_dropout=0.2, drop_path=0.3, remat=remat, name="block"
    )
    inputs = keras.Input((5, 8))
    model = keras.Model(inputs, block(inputs))
    x = np.random.default_rng(1).normal(size=(3, 5, 8)).astype("float32")

    def loss(trainable, others):
        y, others = model.stateless_call(trainable, others, x, training=True)
        return (y**2).sum(), others

    values = [v.value for v in model.trainable_variables]
    others = [v.value for v in model.non_trainable_variables]
    results = []
    for _ in range(2):
        (value, others), found = jax.jit(jax.value_and_grad(loss, has_aux=True))(values, others)
        results += [value, *found, *others]
    return results


check_settings()
same(gradients(False), gradients(True))
print("passed")
