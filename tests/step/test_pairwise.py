import pytest


@pytest.mark.parametrize(
    "replicas, name",
    [
        (1, "pairwise_in_pieces_compiled"),
        (2, "pairwise"),
        (2, "pairwise_in_pieces_compiled"),
        (4, "pairwise"),
    ],
)
def test_all_examples_of_the_batch_meet(scenario, replicas, name):
    numbers = scenario(replicas, name)
    assert max(numbers.values()) < 1e-12, numbers


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_both_passes_draw_the_same_masks(scenario, replicas):
    numbers = scenario(replicas, "pairwise_with_dropout")
    assert numbers["loss"] > 300  # half of 8 x 61 outputs are 2
    assert numbers["difference"] < 1e-9
