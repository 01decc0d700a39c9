import pytest

from keras_vit.training import RECIPES


@pytest.mark.parametrize(("size", "drop_path"), [("0", 0.2), ("1", 0.3), ("2", 0.5), ("3", 0.7)])
def test_coatnet(size, drop_path):
    recipe = RECIPES[f"coatnet_{size}"]
    assert recipe.config == {"drop_path": drop_path, "pool": "max", "stride_in": "expansion"}
    # 10,000 steps of 1,281,167 images.
    assert recipe.warmup_epochs == pytest.approx(10_000 * 4096 / 1_281_167, rel=1e-3)
