import pytest

from keras_vit.data.augment import ResizedCrop, augmentations
from keras_vit.training import RECIPES
from keras_vit.training.recipes.mae import PROBES, SIZES


@pytest.mark.parametrize("size", SIZES)
def test_the_stages_of_a_size(size):
    first, tuned, probed = (
        RECIPES[f"mae_{stage}{size}"] for stage in ("", "fine_tune_", "linear_probe_")
    )
    assert first.learning_rate == 1.5e-4 * first.batch_size / 256
    assert augmentations(first.augment)[0] == ResizedCrop((0.2, 1.0))
    base = {"b16": 5e-4}.get(size, 1e-3)
    assert tuned.learning_rate == base * tuned.batch_size / 256
    assert probed.learning_rate == pytest.approx(0.01 * probed.batch_size / 256)
    assert tuned.config["pooling"] == "gap_then_norm" and probed.epochs == PROBES[size][0]
