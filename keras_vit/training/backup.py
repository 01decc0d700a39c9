"""The last states of a run, from which `fit` goes on as if it had not stopped."""

from pathlib import Path

import tensorflow as tf

from keras_vit.training.state import TrainState
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

    Raises:
        ValueError: for numbers below 1.
    """

    def __init__(self, folder, every=None, keep=2):
        for name, value in (("every", every), ("keep", keep)):
            if value is not None and value < 1:
                raise ValueError(f"`{name}` must be at least 1. Received: {name}={value}.")
        self.folder = Path(folder)
        self.every = every
        self.keep = keep

    def states(self):
        """Returns the states' files, the newest last."""
        return sorted(self.folder.glob(PATTERN))

    def restore(self, model):
        """Sets the model from the newest state and returns its record: `step` and `history`.

        Raises:
            ValueError: if the workers do not find the same state.
        """
        found = self.states()
        _check_the_same(model.distribute_strategy, found)
        if not found:
            return {"step": 0, "history": {}}
        return _state(model).restore(found[-1])

    def save(self, model, step, history):
        """Writes a state, then removes those that are too many.

        All workers call it, since a metric is summed up over them to be read; the chief writes.
        """
        state = _state(model)
        arrays = state.arrays()
        if not is_chief(model.distribute_strategy):
            return
        path = self.folder / PATTERN.replace("*", f"{step:09d}")
        state.write(arrays, path, {"step": step, "history": history})
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
