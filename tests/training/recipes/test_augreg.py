import pytest

from keras_vit.factory import MODELS
from keras_vit.training import RECIPES
from keras_vit.training.recipes.augreg import LEVELS

# As checkpoints are named: picked per size.
PICKED = {
    "i1k_ti16": "light1",
    "i1k_s32": "medium1",
    "i1k_b16": "medium2",
    "i21k_ti16": "none",
    "i21k_s16": "light1",
    "i21k_b32": "light2",
    "i21k_l16": "medium2",
}


@pytest.mark.parametrize("name", PICKED)
def test_the_level_goes_by_the_size(name):
    recipe = RECIPES[f"augreg_{name}"]
    assert recipe.augment[:2] == ("inception_crop", "flip")
    assert recipe.augment[2:] == LEVELS[PICKED[name]]
    assert PICKED[name] in recipe.source
    assert recipe.config["head_bias"] == (-10.0 if "i21k" in name else -6.9)


def test_twelve_recipes_with_heads_of_their_models_width():
    mine = {name: value for name, value in RECIPES.items() if name.startswith("augreg_")}
    assert len(mine) == 12
    for name, recipe in mine.items():
        width = MODELS[recipe.model][1]["width"]
        assert recipe.config.get("representation_size") == (width if "i1k" in name else None)


def test_the_levels_grow():
    assert LEVELS["light1"] == ("rand_augment(2, 0)",)
    assert LEVELS["strong2"] == ("rand_augment(2, 20)", "mixup(0.8)")
