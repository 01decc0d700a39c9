"""The search for a learning rate: a short run in which it rises from step to step."""

import dataclasses
import math

import keras
import numpy as np

from keras_vit.training.fitting import fit

LOW, HIGH, STEPS = 1e-6, 1.0, 100
SMOOTH = 0.9  # share of the mean loss that the next step keeps
BROKEN = 4.0  # times the lowest loss: there the search ends


@dataclasses.dataclass(frozen=True)
class RateSearch:
    """What the search saw.

    Args:
        rates: the learning rates, `[n]`, rising.
        losses: the loss of each step, `[n]`.
    """

    rates: np.ndarray
    losses: np.ndarray

    @property
    def smoothed(self):
        """The losses as a moving mean, `[n]`."""
        mean, values = 0.0, []
        for number, loss in enumerate(self.losses, start=1):
            mean = SMOOTH * mean + (1 - SMOOTH) * loss
            values.append(mean / (1 - SMOOTH**number))  # the first ones would lean to zero
        return np.array(values)

    @property
    def suggestion(self):
        """The rate at which the smoothed loss falls fastest, or None if it never falls."""
        smoothed = self.smoothed
        lowest = int(smoothed.argmin())
        if lowest < 2:
            return None
        slopes = np.gradient(smoothed[: lowest + 1], np.log(self.rates[: lowest + 1]))
        return float(self.rates[slopes.argmin()])


class _Broken(keras.callbacks.Callback):
    """Ends the search when the loss has left."""

    lowest = math.inf

    def on_epoch_end(self, epoch, logs=None):
        self.lowest = min(self.lowest, logs["loss"])
        if not logs["loss"] < BROKEN * self.lowest:  # not a number, too
            self.model.stop_training = True


def find_rate(setting, steps=STEPS, low=LOW, high=HIGH):
    """Trains for some steps at a rate that rises by the same factor each time.

    Args:
        setting: a `Prepared`; its model, optimizer, data and augmentation are used.
        steps: number of steps, at least 10.
        low, high: the first rate and the last.

    Returns:
        A `RateSearch`.

    Raises:
        ValueError: for values outside these rules.

    Reference:
        Smith, *Cyclical Learning Rates for Training Neural Networks*, 2015, arXiv 1506.01186.
    """
    if steps < 10 or not 0 < low < high:
        raise ValueError(
            "`steps` must be at least 10, and `low` above 0 and below `high`. "
            f"Received: steps={steps}, low={low}, high={high}."
        )
    keras.utils.set_random_seed(setting.recipe.seed)
    rate = keras.optimizers.schedules.ExponentialDecay(low, steps - 1, high / low)
    model = setting.compiled(setting.model(), rate)
    # Each step is an epoch, whose loss is that of the step alone.
    history = fit(
        model,
        setting.batches(model.preprocessing),
        epochs=steps,
        steps_per_epoch=1,
        callbacks=[_Broken()],
        verbose=0,
    )
    losses = np.array(history.history["loss"])
    finite = np.isfinite(losses)
    rates = low * (high / low) ** (np.arange(len(losses)) / (steps - 1))
    return RateSearch(rates[finite], losses[finite])
