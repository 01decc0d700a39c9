"""Forward and backward pass of one replica over its share of a batch, assigning nothing.

This is what XLA compiles: a function from the share and the states of the seeds to sums, outputs
and new states. What it gives is reduced, applied and assigned outside (`keras_vit.step.replica`).
"""

import contextlib

import keras
import tensorflow as tf

from keras_vit.step.kinds import examples_in, weight_of_share


def states_of(model):
    """Returns all variables that a forward pass may change: states go by their places here."""
    return [*model.non_trainable_variables, *model.metrics_variables]


def is_seed(variable):
    """Tells whether a variable is the state of a `keras.random.SeedGenerator`."""
    return variable.name == "seed_generator_state"


def outputs_of(model, x, training):
    """Calls the model as Keras's trainer does."""
    # As Keras's trainer asks: a model's `call` may have no such argument.
    return model(x, training=training) if model._call_has_training_arg else model(x)


def example_loss(model, x, y, y_pred, sample_weight):
    """Returns (mean loss over a share, its weight in the whole) for the kind *example*."""
    # Keras's means are divided by the number of replicas, and so are the additional losses.
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    loss = model.compute_loss(x, y, y_pred, sample_weight) * replicas
    return loss, weight_of_share(model, x, y_pred, sample_weight)


def ratio_loss(model, x, y, y_pred, sample_weight):
    """Returns (quotient over a share, its denominator) for the kind *ratio*."""
    _, denominator = model.loss.terms(y, y_pred, sample_weight)
    return model.compute_loss(x, y, y_pred, sample_weight), denominator


def forward_backward(model, batch, loss_of, scope=contextlib.nullcontext):
    """Returns (loss, weight, gradients, outputs) of a share of the batch, and the scope.

    Args:
        model: the model.
        batch: x, (x, y) or (x, y, sample_weight).
        loss_of: called as `example_loss` is.
        scope: makes the scope of the forward pass.

    Returns:
        The gradients are times the optimizer's loss scale, in the order of
        `model.trainable_variables`, None where there is none, and dense: of sparse ones with
        repeated rows, as an Embedding has them, Keras's optimizers would take the sum of the
        squares for the square of the sum.
    """
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(batch)
    variables = [variable.value for variable in model.trainable_variables]
    with tf.GradientTape() as tape, scope() as entered:
        y_pred = outputs_of(model, x, training=True)
        loss, weight = loss_of(model, x, y, y_pred, sample_weight)
        scaled = model.optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, variables)
    gradients = [None if g is None else tf.convert_to_tensor(g) for g in gradients]
    return (loss, weight, gradients, y_pred), entered


def share_of_gradient(batch, states, model, loss_of):
    """Returns what a share of the batch adds to the whole.

    Args:
        states: place in `states_of(model)` -> tensor to be read instead of the variable.
        batch, model, loss_of: as in `forward_backward`.

    Returns:
        (sums, new states by their place, outputs). The sums are a dict: `loss` and `gradients`
        times their `weight`, and the number of `examples`.
    """
    results, scope = forward_backward(model, batch, loss_of, lambda: _reading(model, states))
    loss, weight, gradients, y_pred = results
    count = examples_in(keras.utils.unpack_x_y_sample_weight(batch)[0])

    def share(value):
        # The mean over no examples is 0/0: this product is zero even so.
        return (
            None if value is None else tf.math.multiply_no_nan(value, tf.cast(weight, value.dtype))
        )

    sums = {
        "loss": share(loss),
        "weight": weight,
        "examples": tf.cast(count, weight.dtype),
        "gradients": [share(gradient) for gradient in gradients],
    }
    return sums, _new_states(model, scope, states, count), _with_masks(y_pred)


def share_of_outputs(batch, states, model):
    """As `share_of_gradient`, without gradients: the outputs in training, under the same seeds."""
    x, _, _ = keras.utils.unpack_x_y_sample_weight(batch)
    with _reading(model, states) as scope:
        y_pred = outputs_of(model, x, training=True)
    return {}, _new_states(model, scope, states, examples_in(x)), _with_masks(y_pred)


def _reading(model, states):
    """A scope in which these states are read, and what is assigned is kept instead."""
    variables = states_of(model)
    mapping = [(variables[place], value) for place, value in states.items()]
    # Regularizers get nothing in a scope that does not name their weights.
    regular = [v for v in model.trainable_variables if v.regularizer is not None]
    mapping += [(variable, tf.convert_to_tensor(variable)) for variable in regular]
    return keras.StatelessScope(mapping, collect_losses=True)


def _new_states(model, scope, states, count):
    """What the scope's forward pass assigned, by place.

    A share without examples leaves all but the seeds, which go on together on all replicas.
    """
    changed, known = {}, set()
    variables = states_of(model)
    if not set(scope.state_mapping) <= {id(v) for v in [*variables, *model.trainable_variables]}:
        raise ValueError(
            "A layer assigns a variable that is not the model's, such as the state of Keras's own "
            "seed generator. Make the variable, or a `keras.random.SeedGenerator`, an attribute "
            "of the layer."
        )
    for place, variable in enumerate(variables):
        new = scope.get_current_value(variable)
        if new is None or new is states.get(place) or id(variable) in known:
            continue
        known.add(id(variable))
        if not is_seed(variable):
            old = states.get(place, tf.convert_to_tensor(variable))
            new = tf.where(count > 0, tf.cast(new, old.dtype), old)
        changed[place] = new
    return changed


def _with_masks(y_pred):
    """Outputs and their Keras masks, as a function that is compiled can return them."""
    return y_pred, [getattr(leaf, "_keras_mask", None) for leaf in keras.tree.flatten(y_pred)]
