"""Stopping and going on, in one process; with several workers see test_workers.py."""

import os
import signal

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.step import exact
from keras_vit.training import Backup, fit

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(15, 5)).astype("float32")
Y = RANDOM.normal(size=(15, 2)).astype("float32")


def whole():
    """Five batches."""
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(3)


def by_step(step):
    return whole().repeat().skip(step)


class Interrupt(keras.callbacks.Callback):
    def __init__(self, steps, signal=None):
        super().__init__()
        self.left, self.signal = steps, signal

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0 and self.signal:
            os.kill(os.getpid(), self.signal)
        elif self.left == 0:
            raise KeyboardInterrupt


def run(data, backup=None, callbacks=(), **options):
    keras.backend.clear_session()  # names are counted through the process
    keras.utils.set_random_seed(5)
    layers = [keras.layers.Dense(7, "tanh"), keras.layers.Dropout(0.4), keras.layers.Dense(2)]
    model = exact(keras.Sequential([keras.Input((5,)), *layers]), ema=0.9)
    model.compile(keras.optimizers.AdamW(0.05), "mse", metrics=["mae"])
    history = fit(
        model, data, epochs=3, validation_data=whole(), callbacks=list(callbacks), backup=backup,
        verbose=0, **options,
    )  # fmt: skip
    arrays = [np.asarray(v) for v in (*model.variables, *model.optimizer.variables)]
    return arrays, history.history, history.epoch


def check_equal(found, expected):
    for one, other in zip(found[0], expected[0], strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[1:] == expected[1:]


@pytest.fixture(scope="module")
def uninterrupted():
    return run(whole())


@pytest.mark.parametrize(
    "data, options, stop",
    [
        (whole(), {}, 3),
        (whole(), {"steps_per_epoch": 4}, 5),
        (by_step, {"steps_per_epoch": 5, "steps_per_execution": 2}, 5),
    ],
    ids=["passes", "endless", "function"],
)
def test_stopped_and_resumed_equals_uninterrupted(tmp_path, data, options, stop):
    """The three stop in the middle of an epoch: after step 3, 5 and, two at a time, 9."""
    backup = Backup(tmp_path, every=1, keep=1)
    with pytest.raises(KeyboardInterrupt):
        run(data, backup, [Interrupt(stop)], **options)
    assert len(backup.states()) == 1
    check_equal(run(data, backup, **options), run(data, **options))


@pytest.mark.parametrize("stop", [4, 5])
def test_after_notice_the_state_is_saved_and_the_process_ends_with_42(
    uninterrupted, tmp_path, stop
):
    """At 4 the notice is seen with the last step of an epoch, at 5 in the middle of the next."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        run(whole(), tmp_path, [Interrupt(stop, signal.SIGTERM)])
    assert ended.value.code == 42
    assert (tmp_path / f"step_{stop + 1:09d}.safetensors").exists()
    assert signal.getsignal(signal.SIGTERM) is before
    check_equal(run(whole(), tmp_path), uninterrupted)


def test_a_finished_run_stays_as_it_is(uninterrupted, tmp_path):
    for _ in range(2):
        check_equal(run(whole(), tmp_path), uninterrupted)


def test_data_that_ends_too_early_is_told_of():
    with pytest.raises(ValueError, match="data ended before step 7: give a dataset of more"):
        run(lambda step: whole(), steps_per_epoch=7)
