"""`fit` beside Keras's own on one device; for several workers see test_workers.py."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.step import exact
from keras_vit.training import fit, fitting

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(11, 5)).astype("float32")
Y = np.eye(3, dtype="float32")[RANDOM.integers(3, size=11)]


class Events(keras.callbacks.Callback):
    """Keeps each call with its logs."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __getattribute__(self, name):
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        def event(*arguments, logs=None):
            place = [value for value in arguments if not isinstance(value, dict)]
            logs = logs or next((value for value in arguments if isinstance(value, dict)), None)
            numbers = {key: round(float(value), 5) for key, value in (logs or {}).items()}
            self.seen.append((name, *place, numbers))

        return event


def compiled(seed=5, dropout=0.0):
    keras.utils.set_random_seed(seed)
    layers = [keras.layers.Dense(7, "tanh"), keras.layers.Dropout(dropout), keras.layers.Dense(3)]
    model = exact(keras.Sequential([keras.Input((5,)), *layers]))
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.AdamW(0.05), loss, metrics=["accuracy"])
    return model


def data():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"steps_per_epoch": 2},
        {"validation_data": data(), "validation_steps": 2},
        {"validation_data": data(), "validation_freq": 2},
        {"validation_data": data(), "validation_freq": [1, 3]},
        {"class_weight": {0: 0.3, 2: 4.0}},
    ],
    ids=["plain", "steps", "validation", "every second", "after the third", "class weights"],
)
def test_it_does_what_keras_does(options):
    ours, keras_events = Events(), Events()
    whole = {"epochs": 3, "initial_epoch": 1, "verbose": 0, **options}
    repeated = data().repeat() if "steps_per_epoch" in options else data()
    plain, model = compiled(), compiled()
    expected = plain.fit(repeated, callbacks=[keras_events], shuffle=False, **whole)
    history = fit(model, data(), callbacks=[ours], **whole)
    assert history.epoch == expected.epoch == [1, 2]
    assert history is model.history and history.params == expected.params
    for name, values in expected.history.items():
        np.testing.assert_allclose(history.history[name], values, rtol=1e-5)
    for one, other in zip(model.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert [event[:-1] for event in ours.seen] == [event[:-1] for event in keras_events.seen]
    assert [event[-1].keys() for event in ours.seen] == [
        event[-1].keys() for event in keras_events.seen
    ]


def test_two_steps_in_one_call_are_two_steps():
    one, two, events = compiled(dropout=0.3), compiled(dropout=0.3), Events()
    first = fit(one, data(), epochs=2, verbose=0).history
    second = fit(two, data(), epochs=2, steps_per_execution=2, callbacks=[events], verbose=0)
    assert first == second.history
    for a, b in zip(one.get_weights(), two.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    batches = [event[:2] for event in events.seen if "train_batch" in event[0]]
    assert batches[:4] == [
        ("on_train_batch_begin", 0),
        ("on_train_batch_end", 1),
        ("on_train_batch_begin", 2),
        ("on_train_batch_end", 2),
    ]


def test_xla_compiles_the_step_of_one_replica():
    plain, model = compiled(), compiled()
    plain.fit(data(), shuffle=False, verbose=0)
    model.compile(keras.optimizers.AdamW(0.05), model.loss, jit_compile=True)
    fit(model, data(), verbose=0)
    for one, other in zip(model.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_callback_stops_it():
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = True

    model = compiled()
    history = fit(model, data(), epochs=3, callbacks=[Stop()], verbose=0)
    assert model.optimizer.iterations.numpy() == 1 and history.epoch == [0]


def test_progress_is_shown(capsys):
    fit(compiled(), data(), epochs=2, verbose=2)
    assert "Epoch 2/2\n3/3 - " in capsys.readouterr().out


def test_only_the_chief_has_the_callbacks_that_write(monkeypatch):
    class Writer(keras.callbacks.Callback):
        writes_files = True

    class Reader(keras.callbacks.Callback):
        pass

    monkeypatch.setattr(fitting, "is_chief", lambda strategy: False)
    given = [Writer(), keras.callbacks.CSVLogger("nowhere/log.csv"), Reader()]
    found = fitting._callback_list(compiled(), given, "auto", 1, 1).callbacks
    assert [type(callback).__name__ for callback in found] == ["Reader", "History"]


def test_what_cannot_be_trained_is_refused():
    plain = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)])
    with pytest.raises(TypeError, match="`keras_vit.step.exact`. Received: Sequential"):
        fit(plain, data())
    with pytest.raises(ValueError, match="Compile the model before"):
        fit(exact(plain), data())
    with pytest.raises(TypeError, match="`data` must be a `tf.data.Dataset` of batches.*ndarray"):
        fit(compiled(), X)
    with pytest.raises(TypeError, match="`validation_data` must be.*Received: tuple"):
        fit(compiled(), data(), validation_data=(X, Y))
    with pytest.raises(ValueError, match="`steps_per_execution` must be.*Received: 0"):
        fit(compiled(), data(), steps_per_execution=0)
    with pytest.raises(ValueError, match="`steps_per_epoch` must be given, at least 1.*: -1"):
        fit(compiled(), data().repeat())
    with pytest.raises(ValueError, match="`validation_steps` must be given"):
        fit(compiled(), data(), validation_data=data().repeat())
    with pytest.raises(ValueError, match="`validation_freq` must be.*Received: 0"):
        fit(compiled(), data(), validation_data=data(), validation_freq=0)
    with pytest.raises(ValueError, match="With a function for `data`"):
        fit(compiled(), lambda step: data())
