import pytest


@pytest.mark.parametrize("replicas", [1, 2])
def test_single_batches_evaluate_and_predict(scenario, replicas):
    numbers = scenario(replicas, "single_batches")
    assert max(numbers.values()) < 1e-12, numbers


def test_the_progress_bar_shows_the_loss_of_all_replicas(scenario):
    assert scenario(2, "batch_logs")["losses"] < 1e-12


def test_a_first_batch_that_does_not_divide(scenario):
    """Fails when Keras renames the hook that is replaced: see `_maybe_symbolic_build`."""
    assert max(scenario(2, "odd_first_batch").values()) < 1e-12
