"""Each refusal in a process of its own kind: those of several replicas share one."""

import subprocess
import sys

import keras
import pytest
import tensorflow as tf

from keras_vit.step import exact
from keras_vit.step.guards import check_sharding

SEVERAL = """
import keras, numpy as np, tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from keras_vit.step import PairwiseLoss, exact

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x, y = np.ones((4, 3)), np.ones((4, 2))

def refused(name, action):
    try:
        action()
    except ValueError as error:
        print(name, str(error), sep="|")

def fitted(optimizer=None, loss="mse", **options):
    with strategy.scope():
        model = exact(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]))
        model.compile(optimizer or "sgd", loss, **options)
        model.fit(x, y, verbose=0)

class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)
    def call(self, x):
        return self.dense(x)
    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return keras.ops.mean(y_pred)

for option, value in {
    "clipnorm": 1.0, "global_clipnorm": 1.0, "clipvalue": 1.0, "gradient_accumulation_steps": 2,
}.items():
    refused(option, lambda: fitted(keras.optimizers.SGD(**{option: value})))
refused("ema_overwrite_frequency", lambda: fitted(
    keras.optimizers.SGD(use_ema=True, ema_overwrite_frequency=2)))
refused("inner", lambda: fitted(
    keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(clipnorm=1.0))))
refused("steps_per_execution", lambda: fitted(steps_per_execution=2))
refused("kind", lambda: fitted(loss=lambda y, z: z))
refused("reduction", lambda: fitted(loss=keras.losses.MeanSquaredError(reduction="sum")))

def own():
    with strategy.scope():
        exact(Own()).compile("sgd", "mse")
refused("compute_loss", own)

outside = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
def late():
    with strategy.scope():
        exact(outside).compile("sgd", "mse")
refused("scope", late)

def single():
    with strategy.scope():
        model = exact(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]))
        model.compile("sgd", PairwiseLoss())
        model.train_on_batch(x, y)
refused("train_on_batch", single)
"""
REMEDIES = {
    "clipnorm": "`clip_norm`",
    "global_clipnorm": "`clip_norm`",
    "clipvalue": "`clip_norm`",
    "gradient_accumulation_steps": "`accumulate`",
    "ema_overwrite_frequency": "`ema`",
    "inner": "`clip_norm`",
    "steps_per_execution": "`keras_vit.training.fit`",
    "kind": "`kind`",
    "reduction": "sum_over_batch_size",
    "compute_loss": "as a loss with a `kind`",
    "scope": "`scope()`",
    "train_on_batch": "Use `fit`",
}


@pytest.fixture(scope="module")
def messages():
    process = subprocess.run([sys.executable, "-c", SEVERAL], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return dict(line.split("|", 1) for line in process.stdout.splitlines())


@pytest.mark.parametrize("name", REMEDIES)
def test_several_replicas(messages, name):
    assert REMEDIES[name] in messages[name]


def test_none_is_missing(messages):
    assert set(messages) == set(REMEDIES)


def small():
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])


def test_keras_distribution():
    devices = keras.distribution.list_devices("cpu")
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=devices))
    try:
        with pytest.raises(ValueError, match="does nothing on the TensorFlow.*KERAS_BACKEND=jax"):
            exact(small()).compile("sgd", "mse")
    finally:
        keras.distribution.set_distribution(None)


def test_central_storage():
    strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:0"])
    with strategy.scope():
        model = exact(small())
        with pytest.raises(ValueError, match="Use MirroredStrategy.*Received: CentralStorage"):
            model.compile("sgd", "mse")


def test_several_workers_do_not_go_through_keras_fit():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = exact(small())
        model.compile("sgd", "mse")
        with pytest.raises(ValueError, match="cannot run under.*use `keras_vit.training.fit`"):
            model.fit(tf.ones((4, 3)), tf.ones((4, 2)), verbose=0)


class TwoWorkers:
    class cluster_resolver:
        @staticmethod
        def cluster_spec():
            return tf.train.ClusterSpec({"worker": ["localhost:1", "localhost:2"]})


def test_rows_must_be_dealt_out():
    dataset, options = tf.data.Dataset.range(4), tf.data.Options()
    policy = tf.data.experimental.AutoShardPolicy
    check_sharding(dataset, TwoWorkers)
    options.experimental_distribute.auto_shard_policy = policy.OFF
    check_sharding(dataset.with_options(options), tf.distribute.get_strategy())
    with pytest.raises(ValueError, match="each worker gets all rows.*Received: 2 workers"):
        check_sharding(dataset.with_options(options), TwoWorkers)
