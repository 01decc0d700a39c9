"""Learning rates over the steps of a run."""

import keras
from keras import ops


def warmup_cosine(peak, steps, warmup_steps=0, minimum=0.0):
    """Returns a linear rise from 0 to `peak`, then half a cosine down to `minimum`.

    Keras's own `CosineDecay` does it; its floor is a share of the peak, given here as a rate.

    Args:
        peak: the highest rate, > 0.
        steps: all steps of the run, warm-up included.
        warmup_steps: steps of the rise, fewer than `steps`.
        minimum: the rate at the end, in [0, peak].

    Returns:
        A `keras.optimizers.schedules.LearningRateSchedule`.

    Raises:
        ValueError: for values outside these rules.

    Example:

    >>> rate = warmup_cosine(1.0, steps=100, warmup_steps=10)
    >>> [round(float(rate(step)), 3) for step in (0, 5, 10, 55, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    _check(peak, steps, warmup_steps, minimum)
    decay_steps, floor = steps - warmup_steps, minimum / peak
    if not warmup_steps:
        return keras.optimizers.schedules.CosineDecay(peak, decay_steps, alpha=floor)
    return keras.optimizers.schedules.CosineDecay(
        0.0, decay_steps, alpha=floor, warmup_target=peak, warmup_steps=warmup_steps
    )


@keras.saving.register_keras_serializable(package="keras_vit")
class WarmupLinear(keras.optimizers.schedules.LearningRateSchedule):
    """A linear rise from 0 to `peak`, then a linear fall to `minimum`: see `warmup_linear`."""

    def __init__(self, peak, steps, warmup_steps=0, minimum=0.0):
        super().__init__()
        _check(peak, steps, warmup_steps, minimum)
        self.peak, self.steps = peak, steps
        self.warmup_steps, self.minimum = warmup_steps, minimum

    def __call__(self, step):
        step = ops.cast(step, "float32")
        left = (self.steps - step) / (self.steps - self.warmup_steps)
        fall = self.minimum + (self.peak - self.minimum) * ops.clip(left, 0.0, 1.0)
        rise = self.peak * step / max(self.warmup_steps, 1)
        return ops.where(step < self.warmup_steps, rise, fall)

    def get_config(self):
        names = ("peak", "steps", "warmup_steps", "minimum")
        return {name: getattr(self, name) for name in names}


def warmup_linear(peak, steps, warmup_steps=0, minimum=0.0):
    """Returns a linear rise from 0 to `peak`, then a straight line down to `minimum`.

    Keras's `PolynomialDecay` has no warm-up. Args and errors are those of `warmup_cosine`.

    Example:

    >>> rate = warmup_linear(1.0, steps=100, warmup_steps=20)
    >>> [round(float(rate(step)), 3) for step in (0, 5, 20, 60, 100)]
    [0.0, 0.25, 1.0, 0.5, 0.0]
    """
    return WarmupLinear(peak, steps, warmup_steps, minimum)


def tenths(peak, steps, warmup_steps=0, minimum=0.0):
    """Returns `peak`, a tenth of it after 11/15 of the run and a hundredth after 14/15.

    TimeSformer's, whose 15 epochs drop at the 11th and the 14th. There is no warm-up.

    Args and errors are those of `warmup_cosine`; `warmup_steps` and `minimum` must be 0.

    Example:

    >>> rate = tenths(1.0, steps=15)
    >>> [round(float(rate(step)), 3) for step in (0, 10, 11, 13, 14)]
    [1.0, 1.0, 0.1, 0.1, 0.01]
    """
    _check(peak, steps, warmup_steps, minimum)
    if warmup_steps or minimum:
        raise ValueError(
            "The schedule `tenths` has no warm-up and no minimum. "
            f"Received: warmup_steps={warmup_steps}, minimum={minimum}."
        )
    # Keras holds a value up to its boundary and at it.
    boundaries = [max(round(steps * share / 15) - 1, 0) for share in (11, 14)]
    return keras.optimizers.schedules.PiecewiseConstantDecay(
        boundaries, [peak, peak / 10, peak / 100]
    )


# The choices of a recipe.
SCHEDULES = {"cosine": warmup_cosine, "linear": warmup_linear, "tenths": tenths}


def _check(peak, steps, warmup_steps, minimum):
    if not 0 <= warmup_steps < steps:
        raise ValueError(
            "`warmup_steps` must be at least 0 and below `steps`. "
            f"Received: warmup_steps={warmup_steps}, steps={steps}."
        )
    if peak <= 0 or not 0 <= minimum <= peak:
        raise ValueError(
            "`peak` must be positive and `minimum` between 0 and it. "
            f"Received: peak={peak}, minimum={minimum}."
        )
