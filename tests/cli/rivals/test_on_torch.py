import pytest

from keras_vit.cli.rivals import on_torch
from tests.cli.rivals.test_with_keras_vit import TINY

CLIPS = {**TINY, "frames": 3, "dtype": "float32"}


@pytest.mark.prove
def test_clips_are_answered_and_a_step_learns():
    import torch

    clips = on_torch.drawn(CLIPS)
    assert clips.shape == (2, 3, 3, 32, 32)
    product = torch.nn.Linear(clips[0].numel(), CLIPS["num_classes"])
    network = torch.nn.Sequential(torch.nn.Flatten(), product)
    assert on_torch.inference(network, CLIPS)() is None
    before = network[1].weight.detach().clone()
    on_torch.training_step(network, CLIPS)()
    assert not torch.equal(before, network[1].weight)
