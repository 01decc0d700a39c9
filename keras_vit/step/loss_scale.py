"""An update that is skipped on all replicas when a gradient is not finite."""

import tensorflow as tf


def apply_scaled(optimizer, gradients, variables):
    """Applies reduced, still scaled gradients as `LossScaleOptimizer` does on one device.

    Keras looks at one replica's gradients, before their reduction, and goes round the update by
    a condition. Here the update is always computed, and undone by a selection: every replica
    passes the same points of synchronisation, whatever the strategy.

    Args:
        optimizer: a `keras.optimizers.LossScaleOptimizer`.
        gradients: one for each variable, the same on all replicas; None for none.
        variables: the model's trainable variables.
    """
    inner, scale = optimizer.inner_optimizer, tf.convert_to_tensor(optimizer.dynamic_scale)
    finite = optimizer.check_finite(gradients)
    gradients = [
        None if g is None else tf.where(finite, g / tf.cast(scale, g.dtype), tf.zeros_like(g))
        for g in gradients
    ]
    touched = [*variables, *inner.variables]
    before = [tf.identity(tf.convert_to_tensor(variable)) for variable in touched]
    with tf.control_dependencies(before):
        inner.apply(gradients, variables)
    for variable, value in zip(touched, before, strict=True):
        variable.assign(tf.where(finite, tf.convert_to_tensor(variable), value))
    counter = tf.convert_to_tensor(optimizer.step_counter)
    grows = tf.equal(counter, optimizer.dynamic_growth_steps - 1)
    optimizer.dynamic_scale.assign(tf.where(finite, tf.where(grows, scale * 2, scale), scale / 2))
    optimizer.step_counter.assign(tf.where(finite & ~grows, counter + 1, tf.zeros_like(counter)))
