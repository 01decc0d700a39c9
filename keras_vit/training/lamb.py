"""LAMB, as DeiT-III trains with it."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="keras_vit")
class Lamb(keras.optimizers.Lamb):
    """LAMB with weight decay inside the step whose length is adapted.

    Adam's step plus `weight_decay` times the weight, made as long as the weight itself (times the
    learning rate). Weights that do not decay take Adam's step as it is. So it is in the paper,
    apex's FusedLAMB and timm; Keras's decays beside the step, and adapts biases and norms, too.

    Args:
        *arguments, **options: those of `keras.optimizers.Lamb`.

    Reference:
        You et al., *Large Batch Optimization for Deep Learning: Training BERT in 76 minutes*, 2019,
        arXiv 1904.00962.
    """

    def update_step(self, gradient, variable, learning_rate):
        index = self._get_variable_index(variable)
        first, second = self._momentums[index], self._velocities[index]
        rate, gradient = (ops.cast(value, variable.dtype) for value in (learning_rate, gradient))
        step = ops.cast(self.iterations + 1, variable.dtype)
        self.assign_add(first, (gradient - first) * (1 - self.beta_1))
        self.assign_add(second, (ops.square(gradient) - second) * (1 - self.beta_2))
        update = first / (1 - ops.power(self.beta_1, step))
        update /= ops.sqrt(second / (1 - ops.power(self.beta_2, step))) + self.epsilon
        if self.weight_decay and self._use_weight_decay(variable):
            update += self.weight_decay * variable
            length, own = ops.norm(ops.reshape(variable, [-1])), ops.norm(ops.reshape(update, [-1]))
            adapted = (length > 0) & (own > 0)
            update *= ops.where(adapted, length / ops.where(adapted, own, 1.0), 1.0)
        self.assign_sub(variable, rate * update)

    def _apply_weight_decay(self, variables):
        """Done in `update_step`."""
