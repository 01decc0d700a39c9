"""Everything a run needs to go on as if it had not stopped, in one file."""

import contextlib
import json

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from keras_vit.files import replacing


class TrainState:
    """The state of a training run: weights, optimizer, seeds and the record of the run.

    Keras's weight files hold no seed state, so a run with dropout cannot be resumed exactly
    from one; `model.variables` holds them all.

    Args:
        model: a compiled model whose optimizer is built.
        metrics: variables of the metrics, for a state in the middle of an epoch.
    """

    def __init__(self, model, metrics=()):
        self.model = model
        self.metrics = metrics

    @property
    def step(self):
        """Number of steps done."""
        return int(self.model.optimizer.iterations.numpy())

    def variables(self):
        """Returns all variables by a name that is the same in every process.

        Seeds are numbered in the order of the graph: Keras counts its generators through the
        process, so their own paths depend on what was built before.
        """
        model, optimizer = self.model, self.model.optimizer
        weights = {variable.path for variable in model.weights}
        seeds = [variable for variable in model.variables if variable.path not in weights]
        named = {f"model/{variable.path}": variable for variable in model.weights}
        named |= {f"seed/{index}": variable for index, variable in enumerate(seeds)}
        named |= {f"optimizer/{variable.path}": variable for variable in optimizer.variables}
        named |= {f"metric/{index}": metric for index, metric in enumerate(self.metrics)}
        if len(named) != len(model.variables) + len(optimizer.variables) + len(self.metrics):
            raise ValueError("Two variables of the run have the same name: it cannot be saved.")
        return named

    def save(self, path, **record):
        """Writes the state to `path`; the file there is replaced only by a whole one.

        Args:
            path: file to write.
            **record: JSON values to keep with the state.
        """
        self.write(self.arrays(), path, record)

    def arrays(self):
        """Returns the values of `variables()`; where there are several workers, all call it."""
        return {name: np.asarray(value) for name, value in self.variables().items()}

    def write(self, arrays, path, record):
        """Writes what `arrays` returned; see `save`."""
        with replacing(path) as temporary:
            save_file(arrays, temporary, metadata={"record": json.dumps(record)})

    def restore(self, path):
        """Sets every variable from `path`, or none of them, and returns the record.

        Raises:
            ValueError: if the file is damaged or belongs to another model or recipe.
        """
        with _opened(path) as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}
            record = json.loads(file.metadata()["record"])
        variables = self.variables()
        _check_same(variables, arrays, path)
        for name, variable in variables.items():
            variable.assign(arrays[name])
        return record


def read_record(path):
    """Returns the record that is kept with a state.

    Raises:
        ValueError: if the file is damaged.
    """
    with _opened(path) as file:
        return json.loads(file.metadata()["record"])


@contextlib.contextmanager
def _opened(path):
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except (SafetensorError, TypeError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a whole training state ({error}).") from error


def _check_same(variables, arrays, path):
    differing = sorted(set(variables) ^ set(arrays)) or [
        name for name, value in variables.items() if tuple(value.shape) != arrays[name].shape
    ]
    if differing:
        raise ValueError(
            f"{path} belongs to another model or recipe: {differing[0]!r} differs "
            f"({len(differing)} in all). Start afresh in another folder, or use the same recipe."
        )
