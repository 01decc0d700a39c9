import pytest

from keras_vit.training import RECIPES


def test_warm_up_is_2000_steps_of_400_million_pairs():
    recipe = RECIPES["clip_b32"]
    steps = 400_000_000 / 32_768
    assert recipe.warmup_epochs * steps == pytest.approx(2_000, rel=0.05)
    assert (recipe.epochs, recipe.learning_rate, recipe.weight_decay) == (32, 5e-4, 0.2)
    assert recipe.preprocessing["mean"] == (0.48145466, 0.4578275, 0.40821073)
