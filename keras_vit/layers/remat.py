"""Gradient checkpointing: what a layer computed is forgotten, and computed again when needed."""

import collections

import keras
import numpy as np
from keras import ops


def rematerialised(layer, call, inputs):
    """Returns `call(inputs)`, keeping only the inputs for the gradient.

    The second computation must draw the same random numbers, and must not assign a variable again.
    So all of the layer's variables are read outside, `call` is run as a pure function of their
    values, what it assigned (the moving statistics of a batch norm) is one of its results, and the
    seeds go on by the number of draws. (`keras.RematScope` and `keras.remat` of
    the plain layer give wrong gradients with dropout on TensorFlow, and an error on JAX.)

    Args:
        layer: a built layer.
        call: what the layer computes, a function of the inputs alone.
        inputs: a float tensor.

    Returns:
        What `call` does.
    """
    seeds = [variable for variable in layer.variables if variable.name == "seed_generator_state"]
    floats = [variable for variable in layer.variables if variable.name != "seed_generator_state"]
    states = [_read(seed) for seed in seeds]
    draws, assigned = collections.Counter(), []

    def pure(inputs, *values):
        # Seeds have no gradient: they are no arguments, of which TensorFlow would want one. By
        # this zero they wait for the inputs, as the rest of the second computation does: XLA
        # would see that the masks are the same, and keep them.
        zero = 0.0 * ops.sum(ops.reshape(inputs, (-1,))[:1])
        drawn = [state + ops.cast(zero, state.dtype) for state in states]
        mapping = [*zip(floats, values, strict=True), *zip(seeds, drawn, strict=True)]
        draws.clear()
        with _Counting(mapping, draws) as scope:
            outputs = call(inputs)
        assigned[:] = [variable for variable in floats if id(variable) in draws]
        return outputs, *(scope.get_current_value(variable) for variable in assigned)

    outputs, *states_after = keras.remat(pure)(inputs, *(_read(variable) for variable in floats))
    for variable, value in zip(assigned, states_after, strict=True):
        variable.assign(value)
    for seed, state in zip(seeds, states, strict=True):
        step = np.array([0, draws[id(seed)]])  # what a SeedGenerator adds in as many draws
        seed.assign(state + ops.cast(step, state.dtype))
    return outputs


def _read(variable):
    """The value of a variable as a tensor of its own; `convert_to_tensor` gives the variable.

    A reshape shares the memory of what it is given.
    """
    return ops.reshape(variable, variable.shape)


class _Counting(keras.StatelessScope):
    """Keeps assignments from the variables, and counts them."""

    def __init__(self, mapping, counts):
        super().__init__(mapping)
        self.counts = counts

    def add_update(self, update):
        super().add_update(update)
        self.counts[id(update[0])] += 1
