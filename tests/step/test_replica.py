"""The step on any number of replicas against plain Keras on one device, in float64."""

import pytest

STEPS = [
    (1, "uneven_last_batch"),
    (1, "class_weights"),
    (2, "uneven_last_batch"),
    (2, "uneven_last_batch_compiled"),
    (2, "one_example_in_the_last_batch"),
    (2, "odd_first_batch"),
    (2, "fewer_examples_than_replicas"),
    (2, "class_weights"),
    (2, "clip"),
    (2, "vision_transformer"),
    (4, "one_example_in_the_last_batch"),
    (4, "fewer_examples_than_replicas"),
]


@pytest.mark.parametrize("replicas, name", STEPS)
def test_any_number_of_replicas_gives_what_one_device_gives(scenario, replicas, name):
    numbers = scenario(replicas, name)
    assert max(numbers.values()) < 1e-12, numbers


def test_keras_alone_does_not(scenario):
    """Learn here when Keras mends it: the step could then be simpler."""
    numbers = scenario(2, "keras_alone")
    assert numbers["uneven"] > 1e-3
    assert numbers["clip"] > 1e-2


@pytest.mark.parametrize("replicas", [2, 4])
def test_replicas_draw_different_masks_and_the_same_again(scenario, replicas):
    numbers = scenario(replicas, "dropout")
    # A mean over the examples of both kinds, 0 and 2: for seven of eight features when the four
    # examples have masks of their own, for four at most when the replicas share theirs. XLA
    # draws other numbers than the graph.
    for masks in (numbers["masks"], numbers["compiled"]):
        assert sum(0.1 < value < 1.9 for value in masks) > 61 * 0.7
    assert numbers["again"] == 0
    assert numbers["counters"] == [1] * replicas


def test_one_device_draws_keras_masks(scenario):
    assert scenario(1, "dropout_under_one_device")["weights"] == 0


@pytest.mark.parametrize("replicas", [2, 4])
def test_moving_averages_are_the_mean_of_the_replicas(scenario, replicas):
    numbers = scenario(replicas, "batch_normalization")
    assert numbers["spread"] == 0
    assert numbers["error"] < 1e-12
