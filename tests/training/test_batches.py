import numpy as np
import pytest
import tensorflow as tf

from keras_vit.training.batches import (
    Batches,
    by_worker,
    distributed,
    example_share,
    in_shares,
    number_of_batches,
    weighted,
)

ONE = tf.distribute.OneDeviceStrategy("CPU:0")


def numbers():
    """The batches 0, 1, 2, 3, 4."""
    return tf.data.Dataset.range(5).batch(1)


def first(batches, step, count=4):
    iterator = batches.iterator(step, ONE)
    return [int(next(iterator)[0]) for _ in range(count)]


def test_a_pass_begins_anew_each_epoch():
    batches = Batches(numbers(), numbers(), start=5, steps=5, endless=False)
    assert first(batches, 5) == [0, 1, 2, 3]
    assert first(batches, 11) == [1, 2, 3, 4]


def test_an_endless_dataset_goes_on_through_the_epochs():
    batches = Batches(numbers(), numbers(), start=2, steps=2, endless=True)
    assert first(batches, 2) == [0, 1, 2, 3]
    assert first(batches, 6) == [4, 0, 1, 2]


def test_a_function_is_asked_for_a_step():
    def data(step):
        return tf.data.Dataset.counter(step).batch(1)

    batches = Batches(data, data(3), start=3, steps=3, endless=True)
    assert first(batches, 3) == [3, 4, 5, 6]
    assert first(batches, 7) == [7, 8, 9, 10]


def test_a_distributed_dataset_cannot_begin_in_its_middle():
    data = tf.distribute.MirroredStrategy(["CPU:0"]).experimental_distribute_dataset(numbers())
    batches = Batches(data, data, start=0, steps=5, endless=True)
    assert batches._from(0) is data and distributed(data, ONE) is data
    with pytest.raises(ValueError, match="as a function from the number of a step.*step 2"):
        batches.iterator(2, ONE)


def test_the_number_of_batches():
    assert number_of_batches(numbers(), None, "steps") == 5
    assert number_of_batches(numbers().repeat(), 3, "steps") == 3
    unknown = numbers().filter(lambda number: True)
    with pytest.raises(ValueError, match="`steps` must be given.*Received: -2"):
        number_of_batches(unknown, None, "steps")


def test_rows_are_dealt_out_unless_the_user_says_otherwise(monkeypatch):
    policies, seen = tf.data.experimental.AutoShardPolicy, []
    monkeypatch.setattr(type(ONE), "experimental_distribute_dataset", lambda _, data: data)
    for policy in (policies.AUTO, policies.FILE):
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = policy
        data = distributed(numbers().with_options(options), ONE)
        seen.append(data.options().experimental_distribute.auto_shard_policy)
    assert seen == [policies.DATA, policies.FILE]


def test_an_example_of_a_share():
    data = tf.data.Dataset.from_tensor_slices(np.ones((4, 3), "float32")).batch(4)
    assert example_share(data, ONE).shape.as_list() == [None, 3]
    mirrored = tf.distribute.MirroredStrategy(["CPU:0"])
    share = example_share(mirrored.experimental_distribute_dataset(data), mirrored)
    np.testing.assert_array_equal(share, np.ones((4, 3)))


class Workers:
    """A strategy of three workers with two replicas each, as seen by each of them."""

    class cluster_resolver:
        task_type = "worker"

        @staticmethod
        def cluster_spec():
            return tf.train.ClusterSpec({"worker": ["a:1", "b:1", "c:1"]})

    @staticmethod
    def distribute_datasets_from_function(function):
        return [function(tf.distribute.InputContext(3, place, 6)) for place in range(3)]


def test_each_worker_makes_its_own_rows():
    """Two batches of ten rows, of which the workers have 3, 3 and 4, and their replicas a half."""

    def make(step, rows=range(10)):
        return tf.data.Dataset.range(2).map(lambda batch: 10 * (step + batch) + list(rows))

    assert by_worker(make, 10, ONE) is make
    found = [
        [share.tolist() for (share,) in data.as_numpy_iterator()]
        for data in by_worker(make, 10, Workers)(7)
    ]
    assert found == [
        [[70], [71, 72], [80], [81, 82]],
        [[73], [74, 75], [83], [84, 85]],
        [[76, 77], [78, 79], [86, 87], [88, 89]],
    ]
    with pytest.raises(ValueError, match="at least the number.*Received: 2 images, 3 workers"):
        by_worker(make, 2, Workers)


def test_shares_that_are_alike_have_a_known_size():
    data = tf.data.Dataset.from_tensors((np.zeros((6, 5)), np.zeros(6)))
    assert in_shares(data, 1) is data
    images, labels = in_shares(data, 3).element_spec
    assert (images.shape, labels.shape) == ((2, 5), (2,))
    assert in_shares(data, 4).element_spec[0].shape.as_list() == [None, 5]
    # A replica may have none of a short batch.
    assert [len(share) for share, _ in in_shares(data, 8)] == [0, 1, 1, 1, 0, 1, 1, 1]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2, 0, 1, 4]),
        np.array([[2.0], [0.0], [1.0], [4.0]], "float32"),
        np.eye(5, dtype="float32")[[2, 0, 1, 4]],
    ],
    ids=["numbers", "column", "one-hot"],
)
def test_an_example_has_the_weight_of_its_class(labels):
    def data(step):
        return tf.data.Dataset.from_tensor_slices((np.zeros((4, 2)), labels)).skip(step).batch(4)

    table = {0: 0.5, 2: 3.0}
    _, same, weights = next(iter(weighted(data(0), table)))
    np.testing.assert_array_equal(same, labels)
    np.testing.assert_array_equal(weights, [3.0, 0.5, 1.0, 1.0])
    np.testing.assert_array_equal(next(iter(weighted(data, table)(1)))[2], [0.5, 1.0, 1.0])


def test_what_has_no_classes_to_weigh_is_refused():
    x = np.zeros((4, 2))
    for more in [(), (x, x), ((x, x),)]:
        data = tf.data.Dataset.from_tensor_slices((x, *more)).batch(2)
        with pytest.raises(ValueError, match="needs batches of .x, y. with one tensor of labels"):
            weighted(data, {0: 2.0})
    with pytest.raises(ValueError, match="must be a dict.*Received: {}"):
        weighted(numbers(), {})
    with pytest.raises(TypeError, match="not distributed yet. Received: Distributed"):
        weighted(ONE.experimental_distribute_dataset(numbers()), {0: 2.0})
