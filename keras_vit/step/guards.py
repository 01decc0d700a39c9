"""Refuses at once what would be silently wrong, or fail deep inside, and names what to do."""

import keras
import tensorflow as tf

from keras_vit.step.kinds import loss_kind, reduction_of

# Options of Keras's optimizers that are wrong, or fail, under several replicas.
OPTIONS = {
    "clipnorm": "the step's `clip_norm`, which bounds the norm of all gradients together",
    "global_clipnorm": "the step's `clip_norm`",
    "clipvalue": "the step's `clip_norm`",
    "gradient_accumulation_steps": "the step's `accumulate`",
    "ema_overwrite_frequency": "the step's `ema`",
}
# By class name; subclasses count.
REFUSED = ("ParameterServerStrategyV2", "CentralStorageStrategy", "CentralStorageStrategyV1")


def check(model):
    """Checks that the step can do what a compiled model asks for.

    Raises:
        ValueError: if it cannot.
    """
    strategy = model.distribute_strategy
    _check_strategy(strategy)
    several = strategy.num_replicas_in_sync > 1
    if several:
        _check_optimizer(model.optimizer)
        _check_scope(model)
    if (several or model.step_settings.accumulate > 1) and loss_kind(model) == "example":
        _check_compute_loss(model)
        reduction_of(model)


def check_fit(model):
    """Checks what only Keras's own loop, `fit` and `evaluate`, cannot do.

    Raises:
        ValueError: for strategies of several workers or of TPUs, and for several steps in one
            call on several replicas.
    """
    strategy = model.distribute_strategy
    _check_strategy(strategy)
    custom = (tf.distribute.MultiWorkerMirroredStrategy, tf.distribute.TPUStrategy)
    if isinstance(strategy, custom):
        raise ValueError(
            "Keras's `fit` and `evaluate` cannot run under "
            f"{type(strategy).__name__}: use `keras_vit.training.fit`."
        )
    if strategy.num_replicas_in_sync > 1 and model.steps_per_execution > 1:
        raise ValueError(
            "Keras's `fit` cannot do several steps in one call on several replicas: leave "
            "`steps_per_execution` at 1, or use `keras_vit.training.fit`. "
            f"Received: steps_per_execution={model.steps_per_execution}."
        )


def check_single_batch(model):
    """Checks that a model's loss can be had from `train_on_batch`.

    Raises:
        ValueError: for a *pairwise* loss on several replicas: each gets all of the batch.
    """
    if model.distribute_strategy.num_replicas_in_sync > 1 and loss_kind(model) == "pairwise":
        raise ValueError(
            "`train_on_batch` gives each replica the whole batch, in which a pairwise loss would "
            "meet every example several times. Use `fit`."
        )


def check_sharding(dataset, strategy):
    """Checks that a dataset's rows are dealt out to the workers, not given to each.

    Args:
        dataset: a `tf.data.Dataset` that the strategy is going to distribute.
        strategy: a `tf.distribute.Strategy`.

    Raises:
        ValueError: for `AutoShardPolicy.OFF` with more than one worker.
    """
    policy = dataset.options().experimental_distribute.auto_shard_policy
    resolver = strategy.cluster_resolver
    workers = len(resolver.cluster_spec().as_dict().get("worker", ())) if resolver else 1
    if workers > 1 and policy == tf.data.experimental.AutoShardPolicy.OFF:
        raise ValueError(
            "With `AutoShardPolicy.OFF` each worker gets all rows, and an epoch is as many times "
            "longer. Use `AutoShardPolicy.DATA`, or shard the dataset by hand and distribute it "
            f"with `distribute_datasets_from_function`. Received: {workers} workers."
        )


def _check_strategy(strategy):
    if keras.distribution.distribution() is not None:
        raise ValueError(
            "`keras.distribution` does nothing on the TensorFlow backend: it would train on one "
            "device. Use `tf.distribute.MirroredStrategy`, or set KERAS_BACKEND=jax."
        )
    if any(base.__name__ in REFUSED for base in type(strategy).__mro__):
        raise ValueError(
            "Use MirroredStrategy on one machine, and MultiWorkerMirroredStrategy or TPUStrategy "
            f"with `keras_vit.training.fit`. Received: {type(strategy).__name__}."
        )


def _check_optimizer(optimizer):
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    for option, instead in OPTIONS.items():
        if getattr(optimizer, option, None):
            raise ValueError(
                f"The optimizer's `{option}` is wrong under several replicas, or fails: it knows "
                f"one replica's gradient only. Use {instead}: `keras_vit.step.exact(model, ...)`. "
                f"Received: {option}={getattr(optimizer, option)}."
            )


def _check_scope(model):
    for variable in model.variables:
        if not isinstance(variable.value, tf.distribute.DistributedValues):
            raise ValueError(
                "The model must be built inside the strategy's `scope()`: its weights are on one "
                f"device. Received: {variable.path}."
            )


def _check_compute_loss(model):
    for base in type(model).__mro__:
        if "compute_loss" in vars(base):
            if base.__module__.partition(".")[0] not in ("keras", "keras_vit"):
                raise ValueError(
                    f"{type(model).__name__} has a `compute_loss` of its own, and how the "
                    "replicas' or pieces' shares of it become the whole is not known. Write it as "
                    "a loss with a `kind` (see `keras_vit.step.kinds`)."
                )
