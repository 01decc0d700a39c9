import pytest

from keras_vit.training import RECIPES


@pytest.mark.parametrize(
    "name, rate, crop",
    [
        ("cifar10", 0.003, "square_crop"),
        ("cifar100", 0.01, "square_crop"),
        ("pets", 0.003, "inception_crop"),
        ("flowers", 0.003, "inception_crop"),
    ],
)
def test_the_best_setting_of_each_set(name, rate, crop):
    recipe = RECIPES[f"transfer_{name}"]
    assert (recipe.learning_rate, recipe.augment) == (rate, (crop, "flip"))
    assert (recipe.optimizer, recipe.weight_decay, recipe.batch_size) == ("sgd", 0.0, 512)
