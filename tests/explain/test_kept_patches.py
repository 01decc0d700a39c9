import keras
import numpy as np
import pytest

from keras_vit.explain import kept_patches, kept_picture
from keras_vit.explain.kept_patches import FADED
from keras_vit.models import DynamicViT
from tests.explain.tiny import images, tiny


def dynamic(keep_ratios):
    model = DynamicViT.from_image_model(tiny(), stage_blocks=(1, 2), keep_ratios=keep_ratios)
    rng = np.random.default_rng(9)
    for weight in model.weights:
        if weight.path.startswith("score"):
            weight.assign(rng.normal(size=weight.shape))
    return model


@pytest.mark.parametrize("keep_ratios", [(0.7, 0.4), (1.0, 0.4)])
def test_the_patches_that_are_kept_are_those_the_model_goes_on_with(keep_ratios):
    model, pictures = dynamic(keep_ratios), images()
    kept = kept_patches(model, pictures).reshape(2, 2, 6)
    taps = [model.get_layer("block_0").output]
    taps += [model.get_layer(f"block_{index}").input for index in (1, 2)]
    whole, *tokens = (np.asarray(tap) for tap in keras.Model(model.input, taps)(pictures))
    assert (kept[:, 1] <= kept[:, 0]).all()
    for row in range(2):
        expected, found = whole[row, 1:][kept[row, 0]], tokens[0][row, 1:]
        # Order apart: the model has them by falling score.
        assert {tuple(token) for token in found} == {tuple(token) for token in expected}
        assert kept[row, 1].sum() == tokens[1].shape[1] - 1


def test_dropped_patches_fade():
    picture = np.full((6, 9, 3), 100, "uint8")
    kept = np.array([[[True, False, True], [False, False, True]]])
    drawn = kept_picture(picture, kept, ["all", "left"])
    tile = drawn[6 : 6 + 6, 6 + 9 + 6 : 6 + 9 + 6 + 9, 0]
    expected = np.where(np.kron(kept[0], np.ones((3, 3), bool)), 100, 100 + FADED * 155)
    np.testing.assert_array_equal(tile, expected)


def test_a_model_that_drops_nothing():
    with pytest.raises(ValueError, match="must be a DynamicViT.*Received: ViT"):
        kept_patches(tiny(), images())
