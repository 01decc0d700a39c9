from keras_vit.training import RECIPES


def test_they_are_as_they_were_measured():
    """The README's and the recorded figures belong to these."""
    digits, fashion = RECIPES["digits"], RECIPES["vit_fashion_mnist"]
    assert (digits.augment, digits.epochs, digits.learning_rate) == (("shift",), 100, 4e-3)
    assert fashion.augment == ("flip", "small_shift")
    assert (fashion.epochs, fashion.learning_rate, fashion.label_smoothing) == (44, 2e-3, 0.1)
    for recipe in (digits, fashion):
        assert (recipe.optimizer, recipe.loss, recipe.repeats) == ("adamw", "softmax", 1)
