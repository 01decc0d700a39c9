"""Gives the exact step to any Keras model."""

import functools

import keras

from keras_vit.step.exact_fit import ExactFit
from keras_vit.step.kinds import is_kerass
from keras_vit.step.settings import StepSettings


def exact(model, clip_norm=None, accumulate=1, ema=None):
    """Gives `model` the exact training step, and the step its settings. Call it before `compile`.

    The model stays the same object with the same weights: only its class is extended by
    `ExactFit`. It is saved under its own class, so that a `.keras` file needs nothing of this
    package; call `exact` again after loading. The models of this package have the step already
    and keep its settings in their files.

    Args:
        model: any Keras model without a `train_step` of its own.
        clip_norm: bound on the norm of the whole batch's gradient, all weights together, or None.
        accumulate: number of pieces that a batch is worked off in, one after another.
        ema: decay of an exponential moving average of the weights, or None; see
            `keras_vit.step.averaged`.

    Returns:
        The model.

    Raises:
        TypeError: if it is no Keras model.
        ValueError: for settings that cannot be, a model with its own `train_step`, or one that
            was compiled without the step.

    Example:

    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    >>> model = exact(model, clip_norm=1.0)
    >>> model.compile("adamw", "mse")
    """
    if not isinstance(model, keras.Model):
        raise TypeError(f"`model` must be a Keras model. Received: {type(model).__name__}.")
    settings = StepSettings(clip_norm, accumulate, ema)
    if not isinstance(model, ExactFit):
        if not is_kerass(_definer(type(model), "train_step")):
            raise ValueError(
                f"{type(model).__name__} has a `train_step` of its own, which the exact step would "
                "replace. Write it as a loss, or train it without `exact`."
            )
        if model.compiled:
            raise ValueError("Call `exact` before `compile`: the step takes part in both.")
        model.__class__ = _extended(type(model))
    model.set_step(settings)
    return model


def _definer(cls, name):
    """The class that the attribute `name` of `cls` is written in."""
    return next(base for base in cls.__mro__ if name in vars(base))


@functools.cache
def _extended(cls):
    """`cls` with the step before it; its models are saved as those of `cls`."""

    def save(self, *arguments, **options):
        # A registered class is known to Keras as itself only.
        self.__class__ = cls
        try:
            self.save(*arguments, **options)
        finally:
            self.__class__ = extended

    body = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "save": save,
    }
    extended = type(cls.__name__, (ExactFit, cls), body)
    return extended
