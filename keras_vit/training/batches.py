"""Which batch belongs to which step of `fit`, and how it is dealt out to the replicas."""

import dataclasses
import functools

import keras
import tensorflow as tf

from keras_vit.step.guards import check_sharding
from keras_vit.training.workers import number_of_workers


def number_of_batches(data, given, argument):
    """Returns the number of batches of a pass over a dataset.

    Args:
        data: a `tf.data.Dataset` or `DistributedDataset`.
        given: the number that the user states, or None.
        argument: the name that the user states it by.

    Raises:
        ValueError: if it is neither stated nor known.
    """
    if given is None:
        cardinality = data.cardinality() if isinstance(data, tf.data.Dataset) else data.cardinality
        given = int(cardinality)
    if given < 1:
        raise ValueError(
            f"`{argument}` must be given, at least 1, for a dataset of which the number of batches "
            f"is not known, or has no end. Received: {given}."
        )
    return given


def example_share(data, strategy):
    """Returns something of the structure, types and shapes of a replica's share of a batch."""
    if isinstance(data, tf.data.Dataset):
        return data.element_spec
    batch = next(iter(data))
    return tf.nest.map_structure(lambda x: strategy.experimental_local_results(x)[0], batch)


def distributed(data, strategy):
    """Deals the rows of each global batch out to the replicas.

    Args:
        data: a `tf.data.Dataset` of global batches, or one that is distributed already.
        strategy: a `tf.distribute.Strategy`.

    Returns:
        The distributed dataset.

    Raises:
        ValueError: for `AutoShardPolicy.OFF` with several workers.
    """
    if isinstance(data, tf.distribute.DistributedDataset):
        return data
    check_sharding(data, strategy)
    policies, options = tf.data.experimental.AutoShardPolicy, tf.data.Options()
    if data.options().experimental_distribute.auto_shard_policy == policies.AUTO:
        options.experimental_distribute.auto_shard_policy = policies.DATA
    return strategy.experimental_distribute_dataset(data.with_options(options))


def by_worker(make, batch_size, strategy):
    """Has each worker make its own rows of every batch, where `distributed` has it make all.

    Args:
        make: function from the number of a step to the `tf.data.Dataset` that begins with it. With
            a second argument, a range, the dataset is of these rows of each global batch alone.
        batch_size: rows of a global batch.
        strategy: a `tf.distribute.Strategy`.

    Returns:
        A function from the number of a step to a dataset, as `fit` takes it.

    Raises:
        ValueError: if there are fewer rows than workers.
    """
    workers = number_of_workers(strategy)
    if workers == 1:
        return make
    if batch_size < workers:
        raise ValueError(
            "The batch size must be at least the number of workers. "
            f"Received: {batch_size} images, {workers} workers."
        )

    def own(step, context):
        place, number = context.input_pipeline_id, context.num_input_pipelines
        rows = range(place * batch_size // number, (place + 1) * batch_size // number)
        return in_shares(make(step, rows), context.num_replicas_in_sync // number)

    return lambda step: strategy.distribute_datasets_from_function(functools.partial(own, step))


def in_shares(data, number):
    """Cuts each batch of a dataset into so many, as alike as can be."""
    if number == 1:
        return data

    def share(tensor, index):
        size = tf.shape(tensor, tf.int64)[0]
        part = tensor[index * size // number : (index + 1) * size // number]
        known = tensor.shape[0]
        if known is not None and known % number == 0:
            part = tf.ensure_shape(part, [known // number, *tensor.shape[1:]])
        return part

    def shares(*batch):
        return tf.data.Dataset.range(number).map(
            lambda index: tf.nest.map_structure(lambda tensor: share(tensor, index), batch)
        )

    return data.flat_map(shares).prefetch(number)


def weighted(data, class_weight):
    """Gives each example the weight of its class, as `class_weight` of `model.fit` does.

    Args:
        data: a `tf.data.Dataset` of (x, y), y one-hot or class numbers, or a function to one.
        class_weight: dict from the number of a class to its weight; 1 for those not in it.

    Returns:
        As `data`, of (x, y, sample_weight).

    Raises:
        TypeError: for a dataset that is distributed already.
        ValueError: for batches with weights of their own or several outputs, or weights that are
            no dict.
    """
    if not isinstance(class_weight, dict) or not class_weight:
        raise ValueError(
            "`class_weight` must be a dict from the number of a class to its weight. "
            f"Received: {class_weight!r}."
        )
    if callable(data):
        return lambda step: weighted(data(step), class_weight)
    if not isinstance(data, tf.data.Dataset):
        raise TypeError(
            "`class_weight` needs a `tf.data.Dataset` that is not distributed yet. "
            f"Received: {type(data).__name__}."
        )
    table = tf.constant(
        [class_weight.get(number, 1.0) for number in range(max(class_weight) + 2)], tf.float32
    )

    def with_weights(*batch):
        x, y, own = keras.utils.unpack_x_y_sample_weight(batch)
        if own is not None or y is None or tf.nest.is_nested(y):
            raise ValueError(
                "`class_weight` needs batches of (x, y) with one tensor of labels, without "
                "sample weights. Multiply the weights of the classes into your own."
            )
        if y.shape.rank > 1:
            y = tf.argmax(y, -1) if y.shape[-1] != 1 else tf.squeeze(y, -1)
        numbers = tf.cast(tf.round(tf.cast(y, tf.float32)), tf.int32)
        # The last entry is that of all classes above those in the dict.
        return (*batch, tf.gather(table, tf.minimum(numbers, len(table) - 1)))

    return data.map(with_weights)


@dataclasses.dataclass(frozen=True)
class Batches:
    """The batches of a run, each belonging to a step.

    Args:
        data: a dataset, or a function from the number of a step to the one that begins with it.
        first: the dataset that begins with step `start`: `data` itself, or the function's.
        start: number of the run's first step.
        steps: number of steps of an epoch.
        endless: whether a dataset goes on with its beginning at its end; by default each epoch
            is one pass.
    """

    data: object
    first: object
    start: int
    steps: int
    endless: bool

    def iterator(self, step, strategy):
        """Returns an iterator that gives all replicas their shares, beginning with a step's.

        Raises:
            ValueError: for a distributed dataset that would have to begin in its middle.
        """
        return iter(distributed(self._from(step), strategy))

    def _from(self, step):
        if callable(self.data):
            return self.first if step == self.start else self.data(step)
        place = step - self.start if self.endless else step % self.steps
        if isinstance(self.data, tf.data.Dataset):
            data = self.data.repeat() if self.endless else self.data
            return data.skip(place) if place else data
        if place:
            raise ValueError(
                "A distributed dataset begins at its first batch: to go on with a run, give `data` "
                f"as a function from the number of a step to a dataset. Received: step {step}."
            )
        return self.data
