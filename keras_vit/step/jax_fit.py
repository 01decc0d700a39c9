"""The step where Keras's own trainer is right already: on JAX."""

from keras_vit.step.average import add_averages, averages, moved


class JaxFit:
    """`fit` on JAX.

    Keras's step on JAX sees the whole batch, however it is sharded, and needs no mending. The
    clipping is the optimizer's; the average is computed after the step.
    """

    def check_settings(self, settings):
        """Refuses what this backend's step does not do.

        Raises:
            ValueError: for `accumulate`.
        """
        if settings.accumulate > 1:
            raise ValueError(
                "`accumulate` needs the TensorFlow backend. On JAX, give the optimizer "
                "`gradient_accumulation_steps`, with batches smaller by as much. "
                f"Received: accumulate={settings.accumulate}."
            )

    def make_train_function(self, force=False):
        settings = self.step_settings
        optimizer = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        if settings.clip_norm:
            optimizer.global_clipnorm = settings.clip_norm
        if settings.ema:
            add_averages(self)
        super().make_train_function(force)

    def train_step(self, state, data):
        logs, new = super().train_step(state, data)
        if self.step_settings.ema is None:
            return logs, new
        variables = self.optimizer.variables
        place = {id(variable): index for index, variable in enumerate(variables)}
        first = state[2][place[id(self.optimizer.iterations)]] == 0
        held = list(new[2])
        for average, weight in zip(averages(self.optimizer), new[0], strict=True):
            index = place[id(average)]
            held[index] = moved(held[index], weight, self.step_settings.ema, first)
        return logs, (new[0], new[1], held, new[3])
