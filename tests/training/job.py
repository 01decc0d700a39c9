"""One worker, or the only process, of a small job: `python job.py FOLDER OPTIONS`, as JSON.

Prints one line of JSON at the end: history, weights, a digest of the state, and so on.
"""

import hashlib
import json
import os
import signal
import sys

import keras
import numpy as np
import tensorflow as tf

from keras_vit import create_model
from keras_vit.step import exact
from keras_vit.training import Backup, fit, strategy
from keras_vit.training.batches import by_worker
from keras_vit.training.state import TrainState
from keras_vit.training.workers import is_chief
from tests.scaled_dropout import Scaled

OPTIONS = {
    "at_once": 1,
    "backup": None,
    # Whether a worker makes its own rows only.
    "by_worker": False,
    "dropout": 0.0,
    "ema": None,
    # Mixed bfloat16, and blocks that are computed twice.
    "half": False,
    "kind": "one",
    # The worker that gets a signal, after how many steps, and which.
    "worker": None,
    "stop_at": None,
    "stop_by": "SIGKILL",
}


class Stop(keras.callbacks.Callback):
    """Sends a signal to this process after some steps."""

    def __init__(self, step, name):
        super().__init__()
        self.left, self.signal = step, getattr(signal, name)

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), self.signal)


class Logged(keras.callbacks.Callback):
    """Keeps the logs of all batches."""

    def __init__(self):
        super().__init__()
        self.batches = []

    def on_train_batch_end(self, batch, logs=None):
        self.batches.append([batch, float(logs["loss"])])


def data():
    """Three batches an epoch, the last one smaller and odd."""
    random = np.random.default_rng(7)
    images = random.normal(size=(11, 8, 8, 3)).astype("float32")
    labels = np.eye(3, dtype="float32")[random.integers(3, size=11)]
    return tf.data.Dataset.from_tensor_slices((images, labels)).batch(4)


def rows_of_data(step, rows=None):
    """The endless batches from a step on, or these rows of them."""
    cut = slice(None) if rows is None else slice(rows.start, rows.stop)
    return data().repeat().skip(step).map(lambda images, labels: (images[cut], labels[cut]))


def model_of(options):
    model = create_model(
        "vit_ti16", image_size=8, patch_size=4, width=12, depth=1, num_heads=3, mlp_dim=24,
        num_classes=3, dropout=options["dropout"], drop_path=options["dropout"] / 2,
        remat=options["half"], dtype="mixed_bfloat16" if options["half"] else None,
    )  # fmt: skip
    exact(model, clip_norm=0.3, ema=options["ema"])
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile(
        keras.optimizers.AdamW(3e-3), loss, metrics=["accuracy", keras.metrics.AUC(name="auc")]
    )
    return model


def flat(model):
    return np.concatenate([weight.ravel() for weight in model.get_weights()]).tolist()


def place_of(kind):
    if kind != "replicas":
        return strategy(kind)
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def masks(place):
    """The mean of the masks, 0 or 2, of two rows of ones: the change of the scales in one step."""
    with place.scope():
        inputs = keras.Input((61,))
        model = exact(keras.Model(inputs, Scaled()(inputs)))
        model.compile(keras.optimizers.SGD(61.0), "mean_absolute_error")
    rows = tf.data.Dataset.from_tensors((np.ones((2, 61)), np.zeros((2, 61))))
    fit(model, rows, verbose=0)
    return (1 - model.get_weights()[0]).tolist()


def main(folder, options):
    place = place_of(options["kind"])
    keras.utils.set_random_seed(5)
    tf.config.experimental.enable_op_determinism()
    with place.scope():
        model = model_of(options)
        before = flat(model)
    worker = 0 if is_chief(place) else 1
    logged = Logged()
    callbacks = [logged, keras.callbacks.CSVLogger(f"{folder}/{worker}.csv")]
    if options["worker"] == worker:
        callbacks.append(Stop(options["stop_at"], options["stop_by"]))
    backup = Backup(f"{folder}/{options['backup']}", every=2) if options["backup"] else None
    batches, steps = data(), None
    if options["by_worker"]:
        batches, steps = by_worker(rows_of_data, 4, place), 3
    history = fit(
        model, batches, 3, steps, validation_data=data(), callbacks=callbacks,
        steps_per_execution=options["at_once"], verbose=0, backup=backup,
    )  # fmt: skip
    arrays = TrainState(model).arrays()
    digest = hashlib.sha256(b"".join(arrays[name].tobytes() for name in sorted(arrays)))
    result = {
        "history": history.history,
        "before": before,
        "weights": flat(model),
        "digest": digest.hexdigest(),
        "batches": logged.batches,
        "masks": masks(place) if options["dropout"] else None,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], OPTIONS | dict(json.loads(sys.argv[2])))
