"""Features of images on disk are those of the model's own call."""

import numpy as np
import pytest
from PIL import Image

from keras_vit.data import open_images
from keras_vit.explain.features import pooled_features
from tests.explain.tiny import IMAGE_SIZE, tiny


@pytest.mark.parametrize("pooling", ["gap", "none"])
def test_features_are_the_models_in_the_order_of_the_files(tmp_path, pooling):
    pixels = np.random.default_rng(2).integers(0, 256, (5, *IMAGE_SIZE, 3)).astype("uint8")
    for number, picture in enumerate(pixels):
        Image.fromarray(picture).save(tmp_path / f"{number}.png")
    model, seen = tiny(dtype="float32", depth=1, pooling=pooling), []
    found = pooled_features(model, open_images([tmp_path]), batch_size=2, progress=seen.append)
    tokens = model.features(model.preprocessing.normalize(pixels))["tokens"]
    np.testing.assert_allclose(found, np.mean(tokens, axis=1), rtol=1e-4, atol=1e-5)
    assert seen == [2, 2, 1]
