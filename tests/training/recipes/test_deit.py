from keras_vit.data.augment import MixOrCut, TimmRandAugment, augmentations
from keras_vit.training import RECIPES
from keras_vit.training.losses import smoothing_in_data


def test_deit_mixes_last_and_smooths_before():
    recipe = RECIPES["deit_s16"]
    parts = augmentations(recipe.augment)
    assert parts[-1] == MixOrCut(0.8, 1.0) and TimmRandAugment(9, 0.5) in parts
    assert smoothing_in_data(recipe) == 0.1
    # The rate is 5e-4 for 512 images, and grows with the batch.
    assert recipe.learning_rate == 5e-4 * recipe.batch_size / 512


def test_deit3_makes_every_label_of_a_mix_a_target():
    recipe = RECIPES["deit3_s16"]
    assert [part.stage for part in augmentations(recipe.augment)][-2:] == ["labelled"] * 2
    assert recipe.augment[-1] == "any_label" and recipe.label_smoothing == 0
    assert (recipe.optimizer, recipe.loss, recipe.repeats) == ("lamb", "sigmoid_mean", 3)
