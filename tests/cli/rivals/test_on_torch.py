import pytest

from keras_vit.cli.rivals import on_torch
from tests.cli.rivals.test_with_keras_vit import TINY

CLIPS = {**TINY, "frames": 3, "dtype": "float32"}


@pytest.mark.prove
def test_clips_are_answered_and_a_step_learns():
    import torch

    assert on_torch.drawn(CLIPS).shape == (2, 3, 3, 32, 32)
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.LazyLinear(CLIPS["num_classes"]))
    assert on_torch.inference(network, CLIPS)() is None
    network(on_torch.drawn(CLIPS))
    before = network[1].weight.detach().clone()
    on_torch.training_step(network, CLIPS)()
    assert not torch.equal(before, network[1].weight)
