"""The base of all models of the package: `fit` with the exact step."""

import dataclasses

import keras

from keras_vit.step.average import add_averages
from keras_vit.step.kinds import kind_of, losses_of
from keras_vit.step.settings import StepSettings

if keras.backend.backend() == "tensorflow":
    from keras_vit.step.tensorflow_fit import TensorFlowFit as BackendFit
else:
    from keras_vit.step.jax_fit import JaxFit as BackendFit


class ExactFit(BackendFit):
    """What a Keras model inherits, before `keras.Model`, to have the exact step.

    `fit`, `evaluate`, `predict` and `train_on_batch` are called as ever. Under
    `OneDeviceStrategy` and `MirroredStrategy` any number of replicas gives the numbers of one
    device. `compile(jit_compile=...)` compiles forward and backward pass inside each replica, or
    the whole step where there is one; `"auto"` does so on GPU and TPU. The settings of the step
    are given by `keras_vit.step.exact`.

    Where a layer assigns its state in training, as BatchNormalization does, the replicas' states
    are averaged, weighted by their numbers of examples. `train_on_batch` gives each replica the
    whole batch: the same result for more work.
    """

    step_settings = StepSettings()

    def set_step(self, settings):
        """Sets the step's settings; the next `fit` goes by them."""
        self.check_settings(settings)
        self.step_settings = settings
        self.train_function = None

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """As in Keras; a loss of kind *ratio* or *pairwise* gets the model's whole output."""
        losses = losses_of(self)
        if not losses or kind_of(losses[0]) not in ("ratio", "pairwise"):
            return super().compute_loss(x, y, y_pred, sample_weight)
        loss = losses[0](y, y_pred, sample_weight)
        return loss + sum(keras.ops.sum(more) for more in self.losses)

    def get_compile_config(self):
        config = super().get_compile_config()
        if config and self.step_settings != StepSettings():
            config["step"] = dataclasses.asdict(self.step_settings)
        return config

    def compile_from_config(self, config):
        """As in Keras, which leaves a model with a `compile` of its own uncompiled."""
        config = keras.saving.deserialize_keras_object(config)
        self.set_step(StepSettings(**config.pop("step", {})))
        self.compile(**config)
        if self.optimizer is not None and self.built:
            self.optimizer.build(self.trainable_variables)
            if self.step_settings.ema:
                add_averages(self)
