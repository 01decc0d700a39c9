import pytest

from keras_vit import create_model
from keras_vit.training import RECIPES, Recipe, recipe


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_names_a_model_that_can_be_built(name):
    chosen = recipe(name)
    # One block stands for all: the fields are the same.
    config = {key: value for key, value in chosen.config.items() if key != "depth"}
    assert create_model(chosen.model, depth=1, **config).count_params() > 0


def test_fields_change_by_name_and_by_text():
    changed = recipe(
        "digits",
        {"epochs": "7", "learning_rate": "1e-2", "config.depth": "2", "augment": "flip"}
        | {"preprocessing.resize": "crop", "clip_norm": "None", "precision": "mixed_bfloat16"},
    )
    assert (changed.epochs, changed.learning_rate, changed.clip_norm) == (7, 0.01, None)
    assert changed.config["depth"] == 2 and changed.config["width"] == 64
    assert changed.preprocessing["resize"] == "crop" and changed.augment == ("flip",)
    assert changed.precision == "mixed_bfloat16"
    assert RECIPES["digits"].epochs != 7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": "7"}, "no field 'epoch'. Did you mean 'epochs'.*learning_rate"),
        ({"epochs": "many"}, "`epochs` must be like 100. Received: 'many'"),
        ({"epochs": "2.5"}, "`epochs` must be like 100"),
        ({"epochs": "0"}, "`epochs` must be positive"),
        ({"warmup_epochs": "100"}, "`warmup_epochs` must be at least 0 and below `epochs`"),
        ({"epochs.depth": "7"}, "`epochs` has no parts"),
        ({"augment": "flop"}, "no augment 'flop'. Did you mean 'flip'"),
        ({"precision": "float8"}, "no precision 'float8'"),
        ({"held_out": "1.5"}, "`held_out` must be between 0 and 1"),
        ({"label_smoothing": "1"}, "`label_smoothing` must be in"),
    ],
)
def test_changes_that_make_no_sense(changes, message):
    with pytest.raises(ValueError, match=message):
        recipe("digits", changes)


def test_an_unknown_recipe_lists_the_known_ones():
    with pytest.raises(ValueError, match="no recipe 'digit'. Did you mean 'digits'.*from_scratch"):
        recipe("digit")


def test_a_recipe_is_a_value():
    assert recipe("digits") == recipe("digits") and isinstance(recipe("digits"), Recipe)
