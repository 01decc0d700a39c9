from keras_vit.data.augment import SquareCrop, augmentations
from keras_vit.models.timesformer import NAMES
from keras_vit.training import RECIPES
from keras_vit.training.schedules import SCHEDULES


def test_it_drops_at_the_eleventh_and_the_fourteenth_epoch():
    recipe = RECIPES["timesformer_clips"]
    assert (recipe.epochs, recipe.batch_size, recipe.optimizer) == (15, 8, "sgd")
    rate = SCHEDULES[recipe.schedule](recipe.learning_rate, 15 * 100)
    found = [float(rate(step)) for step in (0, 1099, 1100, 1399, 1400)]
    assert [round(value / 0.005, 4) for value in found] == [1, 1, 0.1, 0.1, 0.01]


def test_its_cut_is_224_of_256_to_320():
    assert augmentations(RECIPES["timesformer_clips"].augment)[0] == SquareCrop(
        (224 / 320, 224 / 256)
    )


def test_clips_are_normalised_and_spaced_as_published():
    strides = {name: fields["preprocessing"].stride for name, fields in NAMES.items()}
    assert list(strides.values()) == [32, 16, 4]
    assert NAMES["timesformer_b16"]["preprocessing"].mean == (0.45,) * 3
