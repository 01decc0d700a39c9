from keras_vit.training import RECIPES


def test_decay_is_as_in_the_paper():
    """The authors' Adam multiplies its decay by the rate, as Keras does."""
    decays = {name: RECIPES[f"original_{name}_b16"].weight_decay for name in ("i21k", "i1k", "384")}
    assert decays == {"i21k": 0.03, "i1k": 0.3, "384": 0.0}


def test_fine_tuning_leaves_the_pretrained_head_behind():
    recipe = RECIPES["original_384_b16"]
    assert recipe.config == {"image_size": 384, "representation_size": None}
    assert recipe.optimizer == "sgd" and recipe.loss == "softmax"
