"""Learning rates over the steps of a run."""

import keras


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
    decay_steps, floor = steps - warmup_steps, minimum / peak
    if not warmup_steps:
        return keras.optimizers.schedules.CosineDecay(peak, decay_steps, alpha=floor)
    return keras.optimizers.schedules.CosineDecay(
        0.0, decay_steps, alpha=floor, warmup_target=peak, warmup_steps=warmup_steps
    )
