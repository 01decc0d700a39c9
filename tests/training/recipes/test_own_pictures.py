from keras_vit.models.dinov2 import SIZES
from keras_vit.training import RECIPES


def test_the_probe_freezes_every_block_and_last_blocks_all_but_four():
    depth = SIZES["s"]["depth"]
    assert RECIPES["linear_probe"].frozen_blocks == depth
    assert RECIPES["last_blocks"].frozen_blocks == depth - 4


def test_small_data_is_augmented_strongly_and_knows_its_positions():
    recipe = RECIPES["small_data"]
    assert recipe.config["position"] == "sincos2d"
    assert {"timm_rand_augment(9, 0.5)", "mix_or_cut(0.8, 1.0)"} < set(recipe.augment)
