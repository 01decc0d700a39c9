"""The last states of a run, from which `fit` goes on as if it had not stopped."""

import shutil
import time
from pathlib import Path

import tensorflow as tf

from keras_vit.training.state import TrainState, read_record
from keras_vit.training.workers import is_chief, number_of_workers, total

PATTERN = "step_*.safetensors"


class Backup:
    """Keeps the last states of a run in a folder, of which all workers see the same files.

    The states hold weights, optimizer, averages, seeds, metrics, the step and the history. They do
    not hold what callbacks keep to themselves, such as the patience of an `EarlyStopping`.

    Args:
        folder: folder of this run alone. Where it holds a state, `fit` goes on from the newest.
        every: steps from one state to the next. There is one at the end of each epoch, too.
        keep: number of states that are kept.
        seconds: age of the newest state at which the next step is followed by another.
        run: JSON value that is kept with the states, such as what the run was started with.

    Raises:
        ValueError: for numbers below 1.
    """

    def __init__(self, folder, every=None, keep=2, seconds=None, run=None):
        for name, value in (("every", every), ("keep", keep)):
            if value is not None and value < 1:
                raise ValueError(f"`{name}` must be at least 1. Received: {name}={value}.")
        self.folder = Path(folder)
        self.every = every
        self.keep = keep
        self.seconds = seconds
        self.run = run
        self.saved_at = time.monotonic()

    def states(self):
        """Returns the states' files, the newest last."""
        return sorted(self.folder.glob(PATTERN))

    def record(self):
        """Returns what is kept with the newest state: `step`, `history` and `run`."""
        found = self.states()
        return read_record(found[-1]) if found else {"step": 0, "history": {}, "run": None}

    def is_late(self):
        """Tells whether the newest state is older than `seconds`."""
        return self.seconds is not None and time.monotonic() - self.saved_at >= self.seconds

    def restore(self, model):
        """Sets the model from the newest state and returns its record.

        Raises:
            ValueError: if the workers do not find the same state.
        """
        found = self.states()
        if is_chief(model.distribute_strategy):
            # What a process that was killed during a save has left behind.
            for room in self.folder.glob(f".{PATTERN}.*"):
                shutil.rmtree(room)
        _check_the_same(model.distribute_strategy, found)
        return _state(model).restore(found[-1]) if found else self.record()

    def save(self, model, step, history):
        """Writes a state, then removes those that are too many.

        All workers call it, since a metric is summed up over them to be read; the chief writes.
        """
        state = _state(model)
        arrays = state.arrays()
        self.saved_at = time.monotonic()
        if not is_chief(model.distribute_strategy):
            return
        path = self.folder / PATTERN.replace("*", f"{step:09d}")
        state.write(arrays, path, {"step": step, "history": history, "run": self.run})
        for old in self.states()[: -self.keep]:
            old.unlink()


def _state(model):
    return TrainState(model, model.metrics_variables)


def _check_the_same(strategy, found):
    if number_of_workers(strategy) == 1:
        return
    own = int(found[-1].stem.partition("_")[2]) if found else -1
    sums = total(strategy, tf.constant([own, own * own], tf.int64)).numpy()
    replicas = strategy.num_replicas_in_sync
    if list(sums) != [own * replicas, own * own * replicas]:
        raise ValueError(
            "The workers do not find the same state to go on from: give `backup` a folder on a "
            f"disk that all of them see. Received: {found[-1] if found else 'no state'} here."
        )
