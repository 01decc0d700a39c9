import pytest

from keras_vit.training import RECIPES
from keras_vit.training.recipes.published import epochs_of


def test_epochs_of_steps_by_hand():
    assert epochs_of(100, 1000, 10) == 1.0
    assert epochs_of(100, 1001, 10) == 0.99  # an epoch has 101 steps


# Recipe, images, steps and steps of warm-up as the source states them.
STEPS = [
    ("original_384_b16", 1_281_167, 20_000, 500),
    ("transfer_cifar10", 50_000, 10_000, 500),
    ("transfer_cifar100", 50_000, 10_000, 500),
    ("transfer_pets", 3_680, 500, 100),
    ("transfer_flowers", 1_020, 500, 100),
    ("plain_s16_90", 1_281_167, None, 10_000),
    ("augreg_i1k_b16", 1_281_167, None, 10_000),
    ("augreg_i21k_s32", 14_197_122, None, 10_000),
    ("original_i21k_b16", 14_197_122, None, 10_000),
    ("original_i1k_b16", 1_281_167, None, 10_000),
]


@pytest.mark.parametrize("name, images, steps, warmup", STEPS)
def test_epochs_are_the_steps_of_the_paper(name, images, steps, warmup):
    chosen = RECIPES[name]
    an_epoch = -(-images // chosen.batch_size)  # as `train` counts
    assert an_epoch * chosen.warmup_epochs == pytest.approx(warmup, rel=0.03)
    if steps is not None:
        assert an_epoch * chosen.epochs == pytest.approx(steps, rel=0.01)
