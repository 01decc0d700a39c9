import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_vit.step import ExactFit, exact

X, Y = np.linspace(-1, 1, 33, dtype="float32").reshape(11, 3), np.ones((11, 2), "float32")


@keras.saving.register_keras_serializable(package="tests")
class Own(keras.Model):
    def __init__(self, width=2, **options):
        super().__init__(**options)
        self.width = width
        self.dense = keras.layers.Dense(width)

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return {**super().get_config(), "width": self.width}


def functional():
    inputs = keras.Input((3,))
    return keras.Model(inputs, keras.layers.Dense(2)(inputs))


def sequential():
    return keras.Sequential([keras.layers.Dense(2)])


MODELS = [functional, sequential, Own]


@pytest.mark.parametrize("make", MODELS)
def test_a_users_model_stays_what_it_is(make, tmp_path):
    keras.utils.set_random_seed(1)
    plain = make()
    plain.compile(keras.optimizers.Adam(0.1), "mse", metrics=["mae"])
    expected = plain.fit(X, Y, batch_size=4, shuffle=False, verbose=0).history
    keras.utils.set_random_seed(1)
    model = make()
    assert exact(model, clip_norm=1e6, accumulate=1) is model
    assert isinstance(model, ExactFit) and isinstance(model, type(plain))
    model.compile(keras.optimizers.Adam(0.1), "mse", metrics=["mae"])
    history = model.fit(X, Y, batch_size=4, shuffle=False, verbose=0).history
    assert history.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(history[name], values, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X, verbose=0), plain.predict(X, verbose=0), rtol=1e-5)
    # Saved as what it was: a plain model comes back, with its optimizer.
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded) is type(plain)
    np.testing.assert_array_equal(loaded.predict(X, verbose=0), model.predict(X, verbose=0))
    assert int(loaded.optimizer.iterations.numpy()) == 3


def test_a_file_needs_nothing_of_this_package(tmp_path):
    model = exact(functional(), clip_norm=1.0, ema=0.5)
    model.compile("adam", "mse")
    model.fit(X, Y, verbose=0)
    model.save_weights(tmp_path / "model.weights.h5")
    model.save(tmp_path / "model.keras")
    code = f"""
import sys, keras
model = keras.saving.load_model({str(tmp_path / "model.keras")!r}, compile=False)
assert "keras_vit" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_what_cannot_be_made_exact():
    class Stepping(keras.Model):
        def train_step(self, data):
            return {}

    with pytest.raises(ValueError, match="Stepping has a `train_step` of its own"):
        exact(Stepping())
    with pytest.raises(TypeError, match="must be a Keras model. Received: Dense"):
        exact(keras.layers.Dense(2))
    model = functional()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="before `compile`"):
        exact(model)
