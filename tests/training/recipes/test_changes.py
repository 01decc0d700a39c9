import pytest

from keras_vit.training import RECIPES, recipe


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


def test_weights_of_classes():
    assert recipe("digits", {"class_weight": "balanced"}).class_weight == "balanced"
    assert recipe("digits", {"class_weight": "{'3': 2.5}"}).class_weight == {"3": 2.5}


def test_augmentations_with_arguments():
    assert recipe("digits", {"augment": "mixup(0.5)"}).augment == ("mixup(0.5)",)
    assert recipe("digits", {"augment": "['flip', 'mixup(0.5)']"}).augment == ("flip", "mixup(0.5)")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": "7"}, "no field 'epoch'. Did you mean 'epochs'.*learning_rate"),
        ({"epochs": "many"}, "`epochs` must be like 100. Received: 'many'"),
        ({"epochs": "2.5"}, "`epochs` must be like 100"),
        ({"epochs.depth": "7"}, "`epochs` has no parts"),
        ({"augment": "flop"}, "Received: 'flop'. Did you mean 'flip'"),
    ],
)
def test_changes_that_make_no_sense(changes, message):
    with pytest.raises(ValueError, match=message):
        recipe("digits", changes)
