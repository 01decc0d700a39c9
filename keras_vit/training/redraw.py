"""New random features for Performers while they train."""

import keras
import numpy as np

from keras_vit.layers import PerformerAttention


class RedrawFeatures(keras.callbacks.Callback):
    """Draws a Performer's random directions anew every so many steps of training.

    A model that always sees the same directions learns their errors. What is drawn depends on the
    seed, the step and the layer only: replicas draw alike, and so does a run that was resumed. (A
    draw inside the layer's call would differ from replica to replica, and in a compiled function
    be one draw for ever.)

    Args:
        every: steps from one draw to the next.
        seed: integer.

    Raises:
        ValueError: if `every` is less than 1, or when training begins if the model has no
            `PerformerAttention`.

    Reference:
        Choromanski et al., *Rethinking Attention with Performers*, 2020, arXiv 2009.14794.
    """

    def __init__(self, every=1000, seed=0):
        super().__init__()
        if every < 1:
            raise ValueError(f"`every` must be at least 1. Received: {every}.")
        self.every = every
        self.seed = seed

    def on_train_begin(self, logs=None):
        layers = self.model._flatten_layers()
        self.attentions = [layer for layer in layers if isinstance(layer, PerformerAttention)]
        if not self.attentions:
            raise ValueError(f"The model {self.model.name!r} has no PerformerAttention to redraw.")
        self._step = int(self.model.optimizer.iterations)

    def on_train_batch_begin(self, batch, logs=None):
        self._first = batch

    def on_train_batch_end(self, batch, logs=None):
        # Counted here: in the midst of a run, JAX's trainer keeps the optimizer's count to itself.
        before, self._step = self._step, self._step + batch - self._first + 1
        draw = self._step // self.every
        if draw == before // self.every:
            return
        if keras.backend.backend() == "jax":
            self.model.jax_state_sync()  # the trainer then reads the variables again
        for index, attention in enumerate(self.attentions):
            attention.redraw(np.random.default_rng((self.seed, draw, index)))
