"""What the workers of a job have to agree on: who writes, what each of them knows, who is lost."""

import contextlib
import functools

import tensorflow as tf

from keras_vit.training.launching import number_of

# What TensorFlow raises when another worker has gone.
LOST = (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError)


def number_of_workers(strategy):
    """Returns the number of processes that run the same program."""
    resolver = strategy.cluster_resolver
    if resolver is None or not resolver.task_type:
        return 1
    return number_of({"cluster": resolver.cluster_spec().as_dict()})


def is_chief(strategy):
    """Tells whether this process is the one that writes the files of a run."""
    resolver = strategy.cluster_resolver
    if resolver is None or not resolver.task_type or resolver.task_type == "chief":
        return True
    return resolver.task_id == 0 and "chief" not in resolver.cluster_spec().as_dict()


def total(strategy, value):
    """Sums up a value over all replicas; every worker has to call it.

    Args:
        strategy: a `tf.distribute.Strategy`.
        value: tensor or number, which the replicas of a worker have in common.

    Returns:
        The sum, a tensor.
    """

    @tf.autograph.experimental.do_not_convert
    def add(value):
        # `identity` gives the value a device, which the reduction asks for.
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.identity(value))

    run = tf.function(functools.partial(strategy.run, add), autograph=False)
    sums = run((tf.convert_to_tensor(value),))
    return strategy.experimental_local_results(sums)[0]


@contextlib.contextmanager
def told_of_a_lost_worker(strategy):
    """Says in one sentence what has happened when another worker has gone.

    Raises:
        RuntimeError: in the place of TensorFlow's errors.
    """
    try:
        yield
    except LOST as error:
        if number_of_workers(strategy) == 1:
            raise
        raise RuntimeError(
            "Another worker of the job has stopped or cannot be reached, so that no step can be "
            "done any more. Start all workers again; with `backup` they go on from the last state."
        ) from error
