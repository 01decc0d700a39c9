"""The optimizer, with weight decay on what should decay."""

import keras

from keras_vit.training.fine_tuning import layer_decay_factors


def decays(variable):
    """Tells whether a weight takes part in weight decay: kernels do, nothing else does.

    Biases, norms, scales, tokens and position tables are left out, as in big_vision and timm.
    The rule goes by name: a fused bias has three axes here, so that counting axes would not do.
    """
    return variable.name == "kernel"


@keras.saving.register_keras_serializable(package="keras_vit")
class LayerDecayAdamW(keras.optimizers.AdamW):
    """AdamW with a factor on the learning rate of each weight.

    Keras has no learning rates by weight; PyTorch's parameter groups scale step and decay, and so
    does this.

    Args:
        *arguments, **options: those of `keras.optimizers.AdamW`.
        factors: weight path -> factor; 1 for a weight that is not named.
    """

    def __init__(self, *arguments, factors=None, **options):
        super().__init__(*arguments, **options)
        self.factors = dict(factors or {})

    def update_step(self, gradient, variable, learning_rate):
        # TensorFlow's backend hands its own variable over, which knows no path.
        path = self._trainable_variables[self._get_variable_index(variable)].path
        factor = self.factors.get(path, 1.0)
        super().update_step(gradient, variable, learning_rate * factor)

    def _apply_weight_decay(self, variables):
        if self.weight_decay is None:
            return
        for variable in variables:
            if self._use_weight_decay(variable):
                rate = self.learning_rate * self.factors.get(variable.path, 1.0)
                share = keras.ops.cast(rate * self.weight_decay, variable.dtype)
                variable.assign(variable - variable * share)

    def get_config(self):
        return {**super().get_config(), "factors": self.factors}


def adamw(model, learning_rate, weight_decay=0.0, clip_norm=None, beta_2=0.999, layer_decay=None):
    """Returns AdamW for `model`, with `decays` deciding what decays.

    Args:
        model: a built Keras model.
        learning_rate: a number or a schedule.
        weight_decay: decay a step, multiplied by the learning rate (Keras's convention, also
            that of PyTorch; big_vision's figure times its learning rate is this one).
        clip_norm: bound on the norm of all gradients together, or None.
        beta_2: decay of the second moment.
        layer_decay: factor on the learning rate from one block to the one before it, in (0, 1),
            or None: see `layer_decay_factors`.

    Returns:
        A built `keras.optimizers.AdamW`.

    Reference:
        Loshchilov, Hutter, *Decoupled Weight Decay Regularization*, 2017, arXiv 1711.05101.
    """
    kind, more = keras.optimizers.AdamW, {}
    if layer_decay is not None:
        kind, more = LayerDecayAdamW, {"factors": layer_decay_factors(model, layer_decay)}
    optimizer = kind(
        learning_rate,
        weight_decay=weight_decay,
        beta_2=beta_2,
        epsilon=1e-8,
        global_clipnorm=clip_norm,
        # Keras would number it through the process, and its variables with it.
        name="adamw",
        **more,
    )
    optimizer.exclude_from_weight_decay(
        var_list=[variable for variable in model.trainable_variables if not decays(variable)]
    )
    optimizer.build(model.trainable_variables)
    return optimizer
