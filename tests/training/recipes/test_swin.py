import pytest

from keras_vit.training import RECIPES


@pytest.mark.parametrize(("size", "drop_path"), [("t", 0.2), ("s", 0.3), ("b", 0.5)])
def test_swin(size, drop_path):
    recipe = RECIPES[f"swin_{size}"]
    assert (recipe.config["drop_path"], recipe.clip_norm) == (drop_path, 5.0)
    assert recipe.learning_rate == 5e-4 * recipe.batch_size / 512
    assert recipe.min_learning_rate == 5e-6 * recipe.batch_size / 512
