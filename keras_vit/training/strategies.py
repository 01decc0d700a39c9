"""The strategy of a run: which devices and workers it trains on."""

import json
import os

import tensorflow as tf

from keras_vit.training.launching import number_of, tf_config


def strategy(kind="auto"):
    """Returns a `tf.distribute.Strategy`. Call it before anything else uses TensorFlow.

    Args:
        kind: `"one"`, the first GPU, or the CPU; `"mirrored"`, all GPUs of this machine, or what
            CPUs it is divided into; `"workers"`, the workers that the environment names (see
            `keras_vit.training.launching`); `"tpu"`, the TPU, or the slice of a pod, that TPU_NAME
            names, or else this machine's; `"auto"`, the first of tpu, workers, mirrored and one
            that the machine is set up for.

    `"tpu"` was never run, as no TPU was at hand: only its steps were compiled, see `keras-vit
    tpu-check`. TPUStrategy compiles what it runs; whether it takes a step with a compiled part
    inside is unknown, so compile the model with `jit_compile=False` there.

    Returns:
        A strategy. Build and compile the model inside its `scope()`.

    Raises:
        ValueError: for another kind, or `"workers"` in an environment that names none.

    Example:

    >>> from keras_vit.training import strategy
    >>> strategy("one").num_replicas_in_sync
    1
    """
    if kind not in STRATEGIES:
        raise ValueError(f"`kind` must be one of {sorted(STRATEGIES)}. Received: {kind!r}.")
    return STRATEGIES[kind]()


def _auto():
    if tf.config.list_physical_devices("TPU"):
        return _tpu()
    if number_of(tf_config(os.environ)) > 1:
        return _workers()
    return _mirrored() if len(tf.config.list_physical_devices("GPU")) > 1 else _one()


def _one():
    return tf.distribute.OneDeviceStrategy(
        "GPU:0" if tf.config.list_physical_devices("GPU") else "CPU:0"
    )


def _mirrored():
    devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    return tf.distribute.MirroredStrategy([device.name for device in devices])


def _workers():
    config = tf_config(os.environ)
    if config is None:
        raise ValueError(
            "Several workers need TF_CONFIG, or KERAS_VIT_WORKERS and KERAS_VIT_WORKER, or "
            "Slurm's `srun`, to know of each other. Received: none of them."
        )
    os.environ["TF_CONFIG"] = json.dumps(config)
    return tf.distribute.MultiWorkerMirroredStrategy()


def _tpu():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
        os.environ.get("TPU_NAME", "local")
    )
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


STRATEGIES = {
    "auto": _auto,
    "mirrored": _mirrored,
    "one": _one,
    "tpu": _tpu,
    "workers": _workers,
}
