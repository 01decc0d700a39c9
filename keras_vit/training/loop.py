"""Epochs, steps and what comes between them: the loop that `fit` starts."""

import dataclasses

import keras
import tensorflow as tf

from keras_vit.training.backup import Backup
from keras_vit.training.batches import Batches, distributed, number_of_batches
from keras_vit.training.preemption import Notice, Preempted
from keras_vit.training.programs import evaluation_program, training_program
from keras_vit.training.workers import total


class Validation:
    """An evaluation that is done again after each epoch, or after some.

    Args:
        model, data, steps: what is evaluated, on what, and how many batches of it.
        freq: epochs from one evaluation to the next, or a list of epochs, counted from 1.
    """

    def __init__(self, model, data, steps, freq=1):
        if not isinstance(freq, list) and (not isinstance(freq, int) or freq < 1):
            raise ValueError(
                "`validation_freq` must be an integer of at least 1, or a list of epochs. "
                f"Received: {freq!r}."
            )
        self.model = model
        self.freq = freq
        self.steps = number_of_batches(data, steps, "validation_steps")
        self.data = distributed(data, model.distribute_strategy)
        self.program = evaluation_program(model)

    def is_due(self, epoch):
        """Tells whether it is done after an epoch, which is counted from 0."""
        if isinstance(self.freq, list):
            return epoch + 1 in self.freq
        return (epoch + 1) % self.freq == 0

    def logs(self, callbacks, at_once):
        """Evaluates, so many steps at once, and returns the metrics as `val_...`."""
        self.model.reset_metrics()
        callbacks.on_test_begin()
        iterator, logs = iter(self.data), {}
        for step in range(0, self.steps, at_once):
            last = min(step + at_once, self.steps) - 1
            callbacks.on_test_batch_begin(step)
            logs, _ = self.program(iterator, tf.constant(last + 1 - step), tf.constant(0))
            callbacks.on_test_batch_end(last, logs)
        logs = _numbers(logs)
        callbacks.on_test_end(logs)
        return {f"val_{name}": value for name, value in logs.items()}


@dataclasses.dataclass
class Run:
    """A run of `fit`: its arguments, and where it stands."""

    model: keras.Model
    batches: Batches
    steps: int
    at_once: int
    backup: Backup | None
    validation: Validation | None = None
    callbacks: keras.callbacks.CallbackList | None = None
    notice: Notice | None = None
    step: int = 0
    noticed: bool = False
    late: bool = False

    def through(self, first, last):
        """Trains from the end of epoch `first`, or from the backup's state, to that of `last`."""
        model, logs = self.model, {}
        program = training_program(model)
        model.stop_training = False
        self.step = first * self.steps
        self.callbacks.on_train_begin()
        self._restore(first)
        iterator = None
        for epoch in range(self.step // self.steps, last):
            if self.step % self.steps == 0:
                model.reset_metrics()
            if iterator is None or not self.batches.endless:
                iterator = self.batches.iterator(self.step, model.distribute_strategy)
            self.callbacks.on_epoch_begin(epoch)
            logs = self._epoch(program, iterator, (epoch + 1) * self.steps)
            if self.validation and self.validation.is_due(epoch):
                logs |= self.validation.logs(self.callbacks, self.at_once)
            self.callbacks.on_epoch_end(epoch, logs)
            self._save()
            if model.stop_training:
                break
        model.optimizer.finalize_variable_values(model.trainable_weights)
        self.callbacks.on_train_end(logs)
        return model.history

    def _epoch(self, program, iterator, end):
        """Does the steps of an epoch that are left, and returns its logs."""
        logs = {}
        while self.step < end and not self.model.stop_training:
            place, before = self.step % self.steps, self.step
            count = min(self.at_once, end - before)
            self.callbacks.on_train_batch_begin(place)
            try:
                logs, sums = program(iterator, tf.constant(count), self._flags())
            except tf.errors.OutOfRangeError as error:
                raise ValueError(
                    f"The data ended before step {end}: give a dataset of more batches, or fewer "
                    "`steps_per_epoch`."
                ) from error
            self.step += count
            self.callbacks.on_train_batch_end(place + count - 1, logs)
            if self.backup is not None:
                self.noticed, self.late = (bool(flag > 0) for flag in sums.numpy())
            # At the end of an epoch the state is saved when its logs are there.
            if self.step < end:
                self._save(before)
        return _numbers(logs)

    def _flags(self):
        """What one worker alone may see, and all have to know: they save together."""
        late = self.backup is not None and self.backup.is_late()
        return tf.constant([self.notice.given, late], tf.int32)

    def _restore(self, first):
        """Goes on from the backup's newest state."""
        if self.backup is None:
            return
        record = self.backup.restore(self.model)
        if record["step"] > self.step:
            self.step = record["step"]
            self.model.history.history = record["history"]
            self.model.history.epoch = list(range(first, self.step // self.steps))

    def _save(self, before=None):
        """Saves the state at the end of an epoch, after notice, and when its turn has come.

        Args:
            before: the step that the last execution began with; None at the end of an epoch.
        """
        if self.backup is None:
            return
        every = self.backup.every
        due = before is None or every and before // every != self.step // every
        if due or self.late or self.noticed:
            self.backup.save(self.model, self.step, self.model.history.history)
        if self.noticed:
            # The workers end together: one that goes earlier would look like one that is lost.
            total(self.model.distribute_strategy, 0).numpy()
            self.callbacks.on_train_end()
            raise Preempted


def _numbers(logs):
    return {name: float(value) for name, value in logs.items()}
