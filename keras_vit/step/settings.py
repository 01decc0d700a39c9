"""What the step does beside the optimizer."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class StepSettings:
    """Clipping, accumulation and averaging of the weights.

    Args:
        clip_norm: bound on the norm of the whole batch's gradient, all weights together, or None.
        accumulate: number of pieces that a batch is worked off in, one after another; the update
            is that of the whole batch, and the memory that of a piece.
        ema: decay of an exponential moving average of the weights, such as 0.9999, or None. The
            weights themselves stay as the optimizer leaves them; `keras_vit.step.averaged` puts
            the averages in their place.

    Raises:
        ValueError: for a value outside these.
    """

    clip_norm: float | None = None
    accumulate: int = 1
    ema: float | None = None

    def __post_init__(self):
        if self.clip_norm is not None and not self.clip_norm > 0:
            raise ValueError(f"`clip_norm` must be above 0, or None. Received: {self.clip_norm}.")
        if not isinstance(self.accumulate, int) or self.accumulate < 1:
            raise ValueError(
                f"`accumulate` must be an integer of at least 1. Received: {self.accumulate!r}."
            )
        if self.ema is not None and not 0 < self.ema < 1:
            raise ValueError(f"`ema` must be between 0 and 1, or None. Received: {self.ema}.")
