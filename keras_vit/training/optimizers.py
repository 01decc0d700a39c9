"""The optimizer, with weight decay on what should decay."""

import keras


def decays(variable):
    """Tells whether a weight takes part in weight decay: kernels do, nothing else does.

    Biases, norms, scales, tokens and position tables are left out, as in big_vision and timm.
    The rule goes by name: a fused bias has three axes here, so that counting axes would not do.
    """
    return variable.name == "kernel"


def adamw(model, learning_rate, weight_decay=0.0, clip_norm=None, beta_2=0.999):
    """Returns AdamW for `model`, with `decays` deciding what decays.

    Args:
        model: a built Keras model.
        learning_rate: a number or a schedule.
        weight_decay: decay a step, multiplied by the learning rate (Keras's convention, also
            that of PyTorch; big_vision's figure times its learning rate is this one).
        clip_norm: bound on the norm of all gradients together, or None.
        beta_2: decay of the second moment.

    Returns:
        A built `keras.optimizers.AdamW`.

    Reference:
        Loshchilov, Hutter, *Decoupled Weight Decay Regularization*, 2017, arXiv 1711.05101.
    """
    optimizer = keras.optimizers.AdamW(
        learning_rate,
        weight_decay=weight_decay,
        beta_2=beta_2,
        epsilon=1e-8,
        global_clipnorm=clip_norm,
        # Keras would number it through the process, and its variables with it.
        name="adamw",
    )
    optimizer.exclude_from_weight_decay(
        var_list=[variable for variable in model.trainable_variables if not decays(variable)]
    )
    optimizer.build(model.trainable_variables)
    return optimizer
