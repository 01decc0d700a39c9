import pytest


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_a_batch_that_is_not_finite_on_any_replica_is_skipped_on_all(scenario, replicas):
    numbers = scenario(replicas, "not_finite")
    assert numbers["weights"] < 1e-12  # one bad batch and a good one, on each replica in turn
    assert numbers["scale"] == 4.0  # halved once, then one good step
    assert numbers["grown"] == 8.0  # after the second good one
    assert numbers["steps"] == 2
