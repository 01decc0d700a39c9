"""Losses in which all examples of the whole batch meet, wherever they are computed."""

import keras
import tensorflow as tf

from keras_vit.step.kinds import examples_in, losses_of


def _lengths(context, value):
    """The number of rows that each replica holds."""
    replica, replicas = context.replica_id_in_sync_group, context.num_replicas_in_sync
    return context.all_reduce(
        "SUM", tf.one_hot(replica, replicas, dtype=tf.int32) * tf.shape(value)[:1]
    )


def gathered(context, values):
    """Returns the values of all replicas, on the first axis, in the replicas' order."""
    if context.num_replicas_in_sync == 1:
        return values
    return tf.nest.map_structure(
        lambda value: None if value is None else _gather(context, value), values
    )


def _gather(context, value):
    """`all_gather` for shares of different lengths, empty ones too: padded, gathered, cut.

    The lengths are few numbers; the padding is at most one example in a share as Keras deals
    them out.
    """
    lengths = _lengths(context, value)
    longest = tf.reduce_max(lengths)
    padding = [[0, longest - tf.shape(value)[0]]] + [[0, 0]] * (value.shape.rank - 1)
    padded = tf.pad(value, padding)
    everything = context.all_gather(padded[None], axis=0)
    kept = tf.sequence_mask(lengths, longest)
    return tf.boolean_mask(everything, kept)


def whole_loss(context, model, y, outputs):
    """Returns the loss of the whole batch, with the additional losses."""
    loss = losses_of(model)[0](gathered(context, y), gathered(context, outputs))
    return loss + sum(tf.reduce_sum(more) for more in model.losses)


def pairwise_gradient(context, model, y, outputs, sample_weight=None):
    """Returns the loss of the whole batch and what the towers have to be pulled by.

    Args:
        context: the replica context.
        model: the model.
        y: this replica's targets, or None.
        outputs: this replica's outputs, a structure of tensors `[b, ...]`.
        sample_weight: what `fit` was given; pairwise losses take none.

    Returns:
        (loss without the additional losses, gradient by this replica's outputs). The gradient is
        times the number of examples of the whole batch, as `pulled_loss` expects it.
    """
    all_outputs, all_y = gathered(context, outputs), gathered(context, y)
    with tf.GradientTape() as tape:
        tape.watch(all_outputs)
        loss = losses_of(model)[0](all_y, all_outputs, sample_weight)  # which may be refused
    gradients = tape.gradient(loss, all_outputs, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    def own(output, gradient):
        lengths = _lengths(context, output)
        start = tf.reduce_sum(lengths[: context.replica_id_in_sync_group])
        total = tf.cast(tf.reduce_sum(lengths), gradient.dtype)
        return gradient[start : start + tf.shape(output)[0]] * total

    return loss, tf.nest.map_structure(own, outputs, gradients)


def pulled_loss(model, x, pull, y_pred, sample_weight):
    """As `keras_vit.step.gradients.example_loss`, for the second half of a pairwise loss.

    It has the gradient of the pairwise loss by this share's outputs, and the value of the
    additional losses only.
    """
    count = tf.cast(examples_in(x), keras.config.floatx())
    pulls = [
        tf.reduce_sum(tf.cast((output - tf.stop_gradient(output)) * force, keras.config.floatx()))
        for output, force in zip(tf.nest.flatten(y_pred), tf.nest.flatten(pull), strict=True)
    ]
    additional = [tf.reduce_sum(loss) for loss in model.losses]
    return tf.math.divide_no_nan(tf.add_n(pulls), count) + sum(additional), count
