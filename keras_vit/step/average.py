"""An exponential moving average of the weights.

The averages are variables of the optimizer, so they are saved, restored, placed and sharded with
its own. Keras's `use_ema` differs in one thing: it overwrites the weights at the end of each
`fit`, and a run in two calls of `fit` is then not the run in one.
"""

import contextlib

from keras import ops

SUFFIX = "step_average"


def averages(optimizer):
    """Returns the averages that an optimizer holds, in the order of its weights."""
    return [variable for variable in optimizer.variables if variable.name.endswith(SUFFIX)]


def add_averages(model):
    """Gives the built optimizer of a model an average for each trainable weight.

    Those that are there already stay as they are. A new one starts as the weight.
    """
    if averages(model.optimizer):
        return
    for weight in model.trainable_variables:
        average = model.optimizer.add_variable_from_reference(weight, name=SUFFIX)
        average.assign(ops.copy(weight))  # JAX gives buffers away: each variable has its own


def moved(average, weight, decay, first):
    """Returns the next value of an average, given the weight after the step.

    As in Keras, the first step sets the average: the weights before it are only a draw.

    Args:
        average: tensor, the average up to now.
        weight: tensor, the weight after the step.
        decay: share of the average that stays.
        first: boolean tensor, whether no step was done before this one.
    """
    kept = ops.where(first, *(ops.convert_to_tensor(d, average.dtype) for d in (0.0, decay)))
    return kept * average + (1 - kept) * weight


@contextlib.contextmanager
def averaged(model):
    """Puts the averages in the place of the weights, and the weights back at the end.

    Args:
        model: a model with the step's `ema`, trained or with its optimizer's state loaded.

    Yields:
        The model.

    Raises:
        ValueError: if it has no averages.

    Example:

    >>> import keras
    >>> images, labels = keras.ops.ones((4, 3)), keras.ops.ones((4, 2))
    >>> from keras_vit.step import exact
    >>> model = exact(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]), ema=0.99)
    >>> model.compile("adam", "mse")
    >>> _ = model.fit(images, labels, verbose=0)
    >>> with averaged(model):
    ...     loss = model.evaluate(images, labels, verbose=0)
    """
    held = averages(model.optimizer)
    weights = model.trainable_variables
    if len(held) != len(weights):
        raise ValueError(
            "The model has no average for each of its trainable weights: set the step's `ema` "
            "and train, without freezing or unfreezing after `compile`. "
            f"Received: {len(held)} averages, {len(weights)} weights."
        )
    kept = [ops.convert_to_numpy(weight) for weight in weights]
    for weight, average in zip(weights, held, strict=True):
        weight.assign(ops.convert_to_numpy(average))
    try:
        yield model
    finally:
        for weight, value in zip(weights, kept, strict=True):
            weight.assign(value)
