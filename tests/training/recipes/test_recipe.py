import pytest

from keras_vit.training import Recipe


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"epochs": 0}, "`epochs` must be positive"),
        ({"repeats": 0}, "`repeats` must be positive"),
        ({"warmup_epochs": 100}, "`warmup_epochs` must be at least 0 and below `epochs`"),
        ({"held_out": 1.5}, "`held_out` must be between 0 and 1"),
        ({"label_smoothing": 1}, "`label_smoothing` must be in"),
        ({"precision": "float8"}, "no precision 'float8'"),
        ({"optimizer": "adam"}, "no optimizer 'adam'. Did you mean 'adamw'"),
        ({"loss": "sigmod"}, "no loss 'sigmod'. Did you mean 'sigmoid'"),
        ({"schedule": "rsqrt"}, "no schedule 'rsqrt'. Valid: cosine, linear"),
        ({"augment": ("flop",)}, "`augment` must be of .*Received: 'flop'. Did you mean 'flip'"),
        ({"augment": ("mixup(3)",)}, r"`mixup` takes \(alpha, per\)"),
        ({"layer_decay": 0.0}, r"`layer_decay` must be in \(0, 1\]"),
        ({"layer_decay": 0.5, "optimizer": "sgd"}, "`layer_decay` needs `optimizer='adamw'`"),
        ({"frozen_blocks": -1}, "`frozen_blocks` must be at least 0"),
        ({"patience": 0}, "`patience` must be at least 1. Received: 0"),
        ({"class_weight": "even"}, "`class_weight` must be 'balanced', or a dict.*'even'"),
        ({"class_weight": {"cat": -1}}, "`class_weight` must be 'balanced', or a dict"),
        ({"class_weight": {}}, "`class_weight` must be 'balanced', or a dict"),
        ({"weights": 3}, "`weights` must be a name or path as text"),
    ],
)
def test_values_that_make_no_sense(fields, message):
    with pytest.raises(ValueError, match=message):
        Recipe("vit_ti16", **fields)


def test_a_recipe_is_a_value():
    assert Recipe("vit_ti16", epochs=7) == Recipe("vit_ti16", epochs=7)
