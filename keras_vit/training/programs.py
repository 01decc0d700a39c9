"""What `fit` runs on the devices: many exact steps in one call."""

import functools

import tensorflow as tf

from keras_vit.step.replica import prepare, replica_evaluation, replica_step
from keras_vit.training.workers import total

# The step needs no AutoGraph, which takes long and reads Keras's own code; the loops do.
_as_it_is = tf.autograph.experimental.do_not_convert


def build(model, share):
    """Makes all variables of a compiled model and of its optimizer, and what the step needs.

    Args:
        model: a compiled model of `keras_vit.step.ExactFit`.
        share: a replica's share of a batch, or the specification of one.
    """
    # There is no public way to build the metrics: Keras's own `fit` does it by the same call.
    model._symbolic_build(data_batch=share)
    prepare(model, model.step_jit)


def training_program(model):
    """Returns a function from (iterator, number of steps, flags) to (metrics, sums of the flags).

    It does that many steps. The flags are this worker's; the sums are those of all replicas.
    """
    return _program(model, replica_step)


def evaluation_program(model):
    """As `training_program`, for steps that change nothing but the metrics."""
    return _program(model, replica_evaluation)


def _program(model, step):
    strategy = model.distribute_strategy
    one = _as_it_is(functools.partial(step, model))
    if model.jit_compile:  # there is one replica: XLA compiles its whole step
        one = tf.function(one, jit_compile=True, reduce_retracing=True)

    @tf.function(reduce_retracing=True)
    def program(iterator, count, flags):
        for _ in tf.range(count):
            strategy.run(one, args=(next(iterator),))
        return _as_it_is(model.get_metrics_result)(), total(strategy, flags)

    return program
