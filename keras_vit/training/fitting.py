"""`fit` with the exact step under every strategy, several workers and TPUs included."""

import contextlib

import keras
import tensorflow as tf

from keras_vit.step import ExactFit
from keras_vit.training.backup import Backup
from keras_vit.training.batches import Batches, example_share, number_of_batches, weighted
from keras_vit.training.loop import Run, Validation
from keras_vit.training.preemption import Notice, notice
from keras_vit.training.programs import build
from keras_vit.training.workers import is_chief, told_of_a_lost_worker

# Callbacks that write files, and that only the chief has therefore.
WRITERS = (
    keras.callbacks.CSVLogger,
    keras.callbacks.ModelCheckpoint,
    keras.callbacks.TensorBoard,
)


def fit(
    model,
    data,
    epochs=1,
    steps_per_epoch=None,
    validation_data=None,
    validation_steps=None,
    validation_freq=1,
    callbacks=None,
    class_weight=None,
    steps_per_execution=1,
    initial_epoch=0,
    verbose="auto",
    backup=None,
):
    """Trains a model as `model.fit` does, under any strategy that the exact step knows.

    Progress, callbacks, validation and history are those of `model.fit`, in `logs` the numbers of
    all replicas together. With several workers each of them makes the same calls with the same
    data: a shuffled dataset needs a seed. Only the chief shows progress and has the callbacks that
    write files (`WRITERS`, and any with an attribute `writes_files = True`); the others must do
    the same on every worker, such as setting `model.stop_training`.

    Args:
        model: a model of this package, or one by `keras_vit.step.exact`, built and compiled inside
            the strategy's `scope()`.
        data: a `tf.data.Dataset` of global batches, as `model.fit` takes them; a function from the
            number of a step to the dataset that begins with that step, such as
            `lambda step: training_batches(..., start_step=step)`; or a dataset that the strategy
            has distributed. Of a dataset each worker makes all rows and keeps its share; by
            `keras_vit.training.batches.by_worker` it makes its share alone.
        epochs: number of the last epoch.
        steps_per_epoch: number of batches of an epoch. By default an epoch is one pass.
        validation_data: a dataset that the model is evaluated on after each epoch.
        validation_steps: number of its batches; all by default.
        validation_freq: epochs from one evaluation to the next, or a list of the epochs, counted
            from 1, that it is done after.
        callbacks: list of `keras.callbacks.Callback`.
        class_weight: dict from the number of a class to the weight of its examples in training;
            1 for classes that are not in it.
        steps_per_execution: number of steps in one call, without a way back to Python.
        initial_epoch: number of epochs done before.
        verbose: 0, 1, 2 or "auto", as in `model.fit`.
        backup: a `Backup`, or a folder for one: the run goes on from its newest state, and saves
            its state when SIGTERM tells that the machine is taken away.

    Returns:
        A `keras.callbacks.History`.

    Raises:
        TypeError, ValueError: for what cannot be trained so.
        RuntimeError: when another worker of the job is lost.
        Preempted: after notice by SIGTERM, when the state is saved: ends the process with code 42.

    Example:

    >>> import keras, tensorflow as tf
    >>> from keras_vit.step import exact
    >>> from keras_vit.training import fit, strategy
    >>> with strategy("one").scope():
    ...     model = exact(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]))
    ...     model.compile("adamw", "mse")
    >>> data = tf.data.Dataset.from_tensor_slices((tf.ones((8, 3)), tf.ones((8, 2)))).batch(4)
    >>> fit(model, data, epochs=2, verbose=0).epoch
    [0, 1]
    """
    if class_weight is not None:
        data = weighted(data, class_weight)
    if backup is not None and not isinstance(backup, Backup):
        backup = Backup(backup)
    start = initial_epoch * (steps_per_epoch or 0)
    if callable(data) and backup:
        start = max(start, backup.record()["step"])
    first = data(start) if callable(data) else data
    _check(model, steps_per_execution)
    _check_data(data, first, validation_data, steps_per_epoch)
    strategy = model.distribute_strategy
    # Callbacks run outside the scope, as in `model.fit`: the chief's alone may make variables.
    with told_of_a_lost_worker(strategy):
        with strategy.scope():
            build(model, example_share(first, strategy))
        steps = number_of_batches(first, steps_per_epoch, "steps_per_epoch")
        if not callable(data):
            start = initial_epoch * steps
        batches = Batches(data, first, start, steps, steps_per_epoch is not None)
        run = Run(model, batches, steps, steps_per_execution, backup)
        if validation_data is not None:
            run.validation = Validation(model, validation_data, validation_steps, validation_freq)
        run.callbacks = _callback_list(model, callbacks, verbose, epochs, steps)
        with notice() if backup else contextlib.nullcontext(Notice()) as run.notice:
            return run.through(initial_epoch, epochs)


def _check(model, steps_per_execution):
    if not isinstance(model, ExactFit):
        raise TypeError(
            "`model` must be one of this package, or have the step by `keras_vit.step.exact`. "
            f"Received: {type(model).__name__}."
        )
    if not model.compiled:
        raise ValueError("Compile the model before `fit`, inside the strategy's `scope()`.")
    if steps_per_execution < 1:
        raise ValueError(
            f"`steps_per_execution` must be at least 1. Received: {steps_per_execution}."
        )


def _check_data(data, first, validation_data, steps_per_epoch):
    for name, value in (("data", first), ("validation_data", validation_data)):
        known = isinstance(value, tf.data.Dataset | tf.distribute.DistributedDataset)
        if not known and not (name == "validation_data" and value is None):
            raise TypeError(
                f"`{name}` must be a `tf.data.Dataset` of batches, such as "
                "`tf.data.Dataset.from_tensor_slices((images, labels)).batch(32)`. "
                f"Received: {type(value).__name__}."
            )
    if callable(data) and steps_per_epoch is None:
        raise ValueError("With a function for `data`, `steps_per_epoch` must be given.")


def _callback_list(model, callbacks, verbose, epochs, steps):
    callbacks = list(callbacks or [])
    if not is_chief(model.distribute_strategy):
        verbose = 0
        callbacks = [
            callback
            for callback in callbacks
            if not isinstance(callback, WRITERS) and not getattr(callback, "writes_files", False)
        ]
    return keras.callbacks.CallbackList(
        callbacks,
        add_history=True,
        add_progbar=verbose != 0,
        verbose=verbose,
        epochs=epochs,
        steps=steps,
        model=model,
    )
