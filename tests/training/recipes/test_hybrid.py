import pytest

from keras_vit.training import RECIPES


def test_the_hybrid_is_fine_tuned_for_20_000_steps():
    recipe = RECIPES["hybrid_384_r50_b16"]
    assert recipe.epochs * 1_281_167 / recipe.batch_size == pytest.approx(20_000, rel=2e-3)
    assert recipe.config == {"image_size": 384, "dropout": 0.1}
