"""The step of one replica, to be run inside `strategy.run`, and what it needs before.

A custom loop calls `prepare(model)` once, outside `strategy.run`, and `replica_step(model, batch)`
in it; `keras_vit.step.ExactFit` does the same in `fit`.
"""

import functools

import keras
import tensorflow as tf

from keras_vit.step.accumulation import in_pieces
from keras_vit.step.average import add_averages, averages, moved
from keras_vit.step.gradients import (
    example_loss,
    forward_backward,
    is_seed,
    outputs_of,
    ratio_loss,
    share_of_gradient,
    share_of_outputs,
    states_of,
)
from keras_vit.step.guards import check
from keras_vit.step.kinds import examples_in, loss_kind
from keras_vit.step.loss_scale import apply_scaled
from keras_vit.step.pairwise import pairwise_gradient, pulled_loss, whole_loss

# Between the seeds of two replicas: a prime, so that they do not meet another layer's.
SEED_STRIDE = 1_000_003


def replicas_of(model):
    """Returns the number of replicas that a model is trained on."""
    return model.distribute_strategy.num_replicas_in_sync


def is_plain(model):
    """Tells whether the batch is one share, in one piece."""
    return replicas_of(model) == 1 and model.step_settings.accumulate == 1


def prepare(model, jit_compile=False):
    """Makes what the step needs, outside `strategy.run`: checks, variables, programs.

    Args:
        model: a compiled model; built, unless its step has no settings and there is one replica.
        jit_compile: whether XLA compiles forward and backward pass inside each replica.

    Raises:
        ValueError: for what the step cannot do.
    """
    check(model)
    if model.built:
        with model.distribute_strategy.scope():
            if not model.optimizer.built:
                model.optimizer.build(model.trainable_variables)
            if model.step_settings.ema:
                add_averages(model)
    model.step_programs = None if is_plain(model) else _Programs(model, jit_compile)


def replica_step(model, batch):
    """One training step on this replica's share of a batch.

    Args:
        model: a model that was prepared.
        batch: x, (x, y) or (x, y, sample_weight): the replica's share, which may be empty.

    Returns:
        The model's metrics up to now, a dict; `loss` is that of the whole batches.
    """
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(batch)
    if is_plain(model):
        (loss, _, gradients, y_pred), _ = forward_backward(model, batch, _plain_loss)
        examples, weight = examples_in(x), None
    else:
        loss, examples, weight, gradients, y_pred = _whole_batch(model, batch)
    _update(model, gradients, weight)
    return _metrics(model, loss, examples, x, y, y_pred, sample_weight)


def replica_evaluation(model, batch):
    """As `replica_step`, for a step of `evaluate`: nothing but the metrics changes."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(batch)
    context = tf.distribute.get_replica_context()
    y_pred = outputs_of(model, x, training=False)
    kind = loss_kind(model)
    if kind == "pairwise":
        loss, weight = whole_loss(context, model, y, y_pred), examples_in(x)
    else:
        loss, weight = LOSSES[kind](model, x, y, y_pred, sample_weight)
    weight = tf.cast(weight, loss.dtype)
    sums = [tf.math.multiply_no_nan(loss, weight), weight, tf.cast(examples_in(x), loss.dtype)]
    loss, weight, examples = context.all_reduce("SUM", sums)
    loss = tf.math.divide_no_nan(loss, weight)
    return _metrics(model, loss, examples, x, y, y_pred, sample_weight)


# What a share is differentiated for.
LOSSES = {"example": example_loss, "ratio": ratio_loss, "pairwise": pulled_loss}


def _plain_loss(model, x, y, y_pred, sample_weight):
    return model.compute_loss(x, y, y_pred, sample_weight), None


class _Programs:
    """A model's compiled functions, in a holder that Keras does not take for layers or weights."""

    def __init__(self, model, jit_compile):
        kind, pieces = loss_kind(model), model.step_settings.accumulate

        def program(share, **options):
            def whole(batch, states):
                return in_pieces(
                    functools.partial(share, model=model, **options), batch, pieces, states
                )

            if not jit_compile:
                return whole
            return tf.function(whole, jit_compile=True, autograph=False, reduce_retracing=True)

        self.kind = kind
        self.gradient = program(share_of_gradient, loss_of=LOSSES[kind])
        self.outputs = program(share_of_outputs)


def _whole_batch(model, batch):
    """Returns (loss, examples, weight, gradients, own outputs) of all replicas together.

    The gradients are times the weight. States that the forward pass changed are assigned.
    """
    context = tf.distribute.get_replica_context()
    programs, seeds = model.step_programs, _seeds(model, context)
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(batch)
    loss = 0.0
    if programs.kind == "pairwise":
        _, _, (y_pred, _) = programs.outputs(batch, seeds)
        loss, pull = pairwise_gradient(context, model, y, y_pred, sample_weight)
        batch = (x, pull, None)
    sums, states, (y_pred, masks) = programs.gradient(batch, seeds)
    for output, mask in zip(keras.tree.flatten(y_pred), masks, strict=True):
        if mask is not None:
            output._keras_mask = mask
    sums = _reduced(model, context, sums, states)
    loss += tf.math.divide_no_nan(sums["loss"], sums["weight"])
    return loss, sums["examples"], sums["weight"], sums["gradients"], y_pred


def _seeds(model, context):
    """The states of all seeds as this replica reads them, by their places."""
    if context.num_replicas_in_sync == 1:
        return {}
    return {
        place: tf.convert_to_tensor(variable) + _offset(context, variable)
        for place, variable in enumerate(states_of(model))
        if is_seed(variable)
    }


def _offset(context, variable):
    stride = tf.cast(context.replica_id_in_sync_group * SEED_STRIDE, variable.dtype)
    return tf.stack([stride, tf.zeros_like(stride)])


def _reduced(model, context, sums, states):
    """The sums of all replicas, in one reduction with the states, which are assigned.

    Seeds go on alike on all replicas; metrics sum up their replicas' values when they are read;
    other states (moving averages) become the mean, weighted by the numbers of examples.
    """
    if context.num_replicas_in_sync == 1:
        for place, state in states.items():
            states_of(model)[place].assign(state)
        return sums
    variables, shared = states_of(model), {}
    metrics = {id(variable) for variable in model.metrics_variables}
    for place, state in states.items():
        variable = variables[place]
        if is_seed(variable):
            variable.assign(state - _offset(context, variable))
        elif id(variable) in metrics or not state.dtype.is_floating:
            variable.assign(state)
        else:
            shared[place] = state * tf.cast(sums["examples"], state.dtype)
    everything = {"sums": sums, "states": shared}
    known = [value for value in tf.nest.flatten(everything) if value is not None]
    total = iter(context.all_reduce("SUM", known))
    total = tf.nest.map_structure(lambda value: None if value is None else next(total), everything)
    for place, state in total["states"].items():
        count = tf.cast(total["sums"]["examples"], state.dtype)
        old = tf.convert_to_tensor(variables[place])
        variables[place].assign(tf.where(count > 0, tf.math.divide_no_nan(state, count), old))
    return total["sums"]


def _update(model, gradients, weight):
    """Clips and applies the gradients, and moves the averages.

    Args:
        model: the model.
        gradients: those of the whole batch, times `weight` and the optimizer's loss scale.
        weight: tensor, or None where the gradients are those of the mean.
    """
    optimizer, variables = model.optimizer, model.trainable_variables
    factor = _factor(model, gradients, weight)
    if factor is not None:
        gradients = [None if g is None else g * tf.cast(factor, g.dtype) for g in gradients]
    first = tf.equal(tf.convert_to_tensor(optimizer.iterations), 0)
    scaled = isinstance(optimizer, keras.optimizers.LossScaleOptimizer)
    apply = apply_scaled if scaled and replicas_of(model) > 1 else type(optimizer).apply
    apply(optimizer, gradients, variables)
    if model.step_settings.ema:
        for average, variable in zip(averages(optimizer), variables, strict=True):
            new = tf.convert_to_tensor(variable)
            average.assign(
                moved(tf.convert_to_tensor(average), new, model.step_settings.ema, first)
            )


def _factor(model, gradients, weight):
    """What the gradients are multiplied by before they are applied, or None for one.

    Keras's optimizers sum over the replicas once more: each hands over its part of the sum.
    """
    clip_norm, replicas = model.step_settings.clip_norm, replicas_of(model)
    factor = None if weight is None else tf.math.reciprocal_no_nan(weight * replicas)
    if clip_norm is None:
        return factor
    norm = tf.linalg.global_norm([g for g in gradients if g is not None])
    norm = norm / model.optimizer.scale_loss(tf.ones_like(norm))
    if weight is not None:
        norm = tf.math.divide_no_nan(norm, tf.cast(weight, norm.dtype))
    clip = clip_norm / tf.maximum(norm, clip_norm)
    return clip if factor is None else factor * tf.cast(clip, factor.dtype)


def _metrics(model, loss, examples, x, y, y_pred, sample_weight):
    """Updates the metrics and returns them.

    The loss is that of the whole batch already: each replica counts its part of the examples.
    """
    tracker = next(metric for metric in model.metrics if metric.name == "loss")
    if replicas_of(model) > 1:
        examples = examples / replicas_of(model)
    tracker.update_state(loss, sample_weight=examples)
    return model.compute_metrics(x, y, y_pred, sample_weight=sample_weight)
