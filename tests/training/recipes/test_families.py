"""The recipes of Swin, CoAtNet, the hybrid and the Performer: figures as their papers have them."""

import pytest

from keras_vit.training import RECIPES


@pytest.mark.parametrize(("size", "drop_path"), [("t", 0.2), ("s", 0.3), ("b", 0.5)])
def test_swin(size, drop_path):
    recipe = RECIPES[f"swin_{size}"]
    assert (recipe.config["drop_path"], recipe.clip_norm) == (drop_path, 5.0)
    assert recipe.learning_rate == 5e-4 * recipe.batch_size / 512
    assert recipe.min_learning_rate == 5e-6 * recipe.batch_size / 512


@pytest.mark.parametrize(("size", "drop_path"), [("0", 0.2), ("1", 0.3), ("2", 0.5), ("3", 0.7)])
def test_coatnet(size, drop_path):
    recipe = RECIPES[f"coatnet_{size}"]
    assert recipe.config == {"drop_path": drop_path, "pool": "max", "stride_in": "expansion"}
    # 10,000 steps of 1,281,167 images.
    assert recipe.warmup_epochs == pytest.approx(10_000 * 4096 / 1_281_167, rel=1e-3)


def test_the_hybrid_is_fine_tuned_for_20_000_steps():
    recipe = RECIPES["hybrid_384_r50_b16"]
    assert recipe.epochs * 1_281_167 / recipe.batch_size == pytest.approx(20_000, rel=2e-3)
    assert recipe.config == {"image_size": 384, "dropout": 0.1}


def test_the_performer_is_past_its_break_even():
    config = RECIPES["performer_small_patches"].config
    tokens = (config["image_size"] // config["patch_size"]) ** 2
    # A head of 64 has 266 features, and twice that is where it begins to pay.
    assert config["attention"] == "performer" and tokens > 2 * 266
