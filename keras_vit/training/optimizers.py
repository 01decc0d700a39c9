"""The optimizers, with weight decay on what should decay."""

import keras

from keras_vit.training.fine_tuning import layer_decay_factors
from keras_vit.training.lamb import Lamb


def decays(variable):
    """Tells whether a weight takes part in weight decay: kernels do, nothing else does.

    Biases, norms, scales, tokens and position tables are left out, as in big_vision and timm.
    The rule goes by name: a fused bias has three axes here, so that counting axes would not do.
    """
    return variable.name == "kernel"


@keras.saving.register_keras_serializable(package="keras_vit")
class AdamW(keras.optimizers.AdamW):
    """Keras's AdamW in one operation a weight, with a factor on the learning rate of each.

    The numbers are Keras's. Keras writes a step as some sixteen operations, each of them a pass
    over the memory of the weight; TensorFlow has one for all but the decay. A step of B/16's 86
    million weights, two cores: 92 ms instead of 209, and it is traced in half the time. (XLA would
    take 80, and compile for 5 seconds.) Other backends and sparse gradients go Keras's way.

    Keras has no learning rates by weight; PyTorch's parameter groups scale step and decay, and so
    do the factors.

    Args:
        *arguments, **options: those of `keras.optimizers.AdamW`.
        factors: weight path -> factor; 1 for a weight that is not named.
    """

    def __init__(self, *arguments, factors=None, **options):
        super().__init__(*arguments, **options)
        self.factors = dict(factors or {})

    def update_step(self, gradient, variable, learning_rate):
        index = self._get_variable_index(variable)
        # TensorFlow's backend hands its own variable over, which knows no path.
        rate = learning_rate * self.factors.get(self._trainable_variables[index].path, 1.0)
        if self.weight_decay and self._use_weight_decay(variable):
            share = keras.ops.cast(rate * self.weight_decay, variable.dtype)
            self.assign_sub(variable, variable * share)
        if keras.backend.backend() != "tensorflow" or self.amsgrad or _is_sparse(gradient):
            super().update_step(gradient, variable, rate)
        else:
            self._apply_adam(gradient, variable, index, rate)

    def _apply_weight_decay(self, variables):
        """Left to `update_step`, which every strategy calls with a variable that it may change."""

    def _apply_adam(self, gradient, variable, index, rate):
        import tensorflow as tf

        dtype = variable.dtype
        beta_1, beta_2 = tf.constant(self.beta_1, dtype), tf.constant(self.beta_2, dtype)
        step = tf.cast(self.iterations.value + 1, dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(beta_1, step),
            beta2_power=tf.pow(beta_2, step),
            lr=tf.cast(rate, dtype),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=tf.constant(self.epsilon, dtype),
            grad=tf.cast(gradient, dtype),
        )

    def get_config(self):
        return {**super().get_config(), "factors": self.factors}


def _is_sparse(gradient):
    return type(gradient).__name__ == "IndexedSlices"


def adamw(model, learning_rate, weight_decay=0.0, beta_2=0.999, layer_decay=None):
    """Returns AdamW for `model`, with `decays` deciding what decays.

    It does not clip: on several replicas an optimizer cannot. `keras_vit.step.exact` does.

    Args:
        model: a built Keras model.
        learning_rate: a number or a schedule.
        weight_decay: decay a step, multiplied by the learning rate (Keras's convention, also
            that of PyTorch; big_vision's figure divided by its highest rate is this one).
        beta_2: decay of the second moment.
        layer_decay: factor on the learning rate from one block to the one before it, in (0, 1),
            or None: see `layer_decay_factors`.

    Returns:
        A built `AdamW`.

    Reference:
        Loshchilov, Hutter, *Decoupled Weight Decay Regularization*, 2017, arXiv 1711.05101.
    """
    factors = None if layer_decay is None else layer_decay_factors(model, layer_decay)
    optimizer = AdamW(
        learning_rate,
        weight_decay=weight_decay,
        beta_2=beta_2,
        epsilon=1e-8,
        # Keras would number it through the process, and its variables with it.
        name="adamw",
        factors=factors,
    )
    return _built(optimizer, model)


def sgd(model, learning_rate, weight_decay=0.0):
    """Returns SGD with a momentum of 0.9, the fine-tuning optimizer of the ViT papers.

    Keras puts the learning rate into the momentum, optax and PyTorch apply it afterwards: where the
    rate changes, Keras's follows some ten steps later.

    Args:
        model: a built Keras model.
        learning_rate: a number or a schedule.
        weight_decay: as in `adamw`.
    """
    optimizer = keras.optimizers.SGD(learning_rate, 0.9, weight_decay=weight_decay, name="sgd")
    return _built(optimizer, model)


def lamb(model, learning_rate, weight_decay=0.0):
    """Returns `Lamb`, with `decays` deciding what decays and is adapted.

    Args:
        model: a built Keras model.
        learning_rate: a number or a schedule.
        weight_decay: part of the step.
    """
    return _built(Lamb(learning_rate, epsilon=1e-8, weight_decay=weight_decay), model)


def adamw_95(model, learning_rate, weight_decay=0.0):
    """Returns `adamw` with `beta_2=0.95`, for masked autoencoders: it forgets large steps sooner.

    Args:
        model: a built Keras model.
        learning_rate: a number or a schedule.
        weight_decay: as in `adamw`.
    """
    return adamw(model, learning_rate, weight_decay, beta_2=0.95)


OPTIMIZERS = {"adamw": adamw, "adamw_95": adamw_95, "sgd": sgd, "lamb": lamb}


def optimizer_of(model, recipe, learning_rate):
    """Returns the optimizer that a recipe trains a model with.

    Args:
        model: a built Keras model.
        recipe: a `Recipe`.
        learning_rate: a number or a schedule.
    """
    layers = {"layer_decay": recipe.layer_decay} if recipe.layer_decay is not None else {}
    return OPTIMIZERS[recipe.optimizer](model, learning_rate, recipe.weight_decay, **layers)


def _built(optimizer, model):
    """The optimizer with its variables, and with weight decay on kernels alone."""
    if optimizer.weight_decay is not None:
        optimizer.exclude_from_weight_decay(
            var_list=[variable for variable in model.trainable_variables if not decays(variable)]
        )
    optimizer.build(model.trainable_variables)
    return optimizer
