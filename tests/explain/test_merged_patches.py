import numpy as np
import pytest

from keras_vit.explain import merged_patches, merged_picture
from keras_vit.models import merge_tokens
from tests.explain.tiny import images, tiny


def test_patches_of_one_token_are_those_whose_features_are_the_same():
    model, pictures = merge_tokens(tiny(), [2, 0, 1]), images()
    groups = merged_patches(model, pictures).reshape(2, 6)
    features = np.asarray(model.features(pictures)["tokens"])
    for row in range(2):
        assert len(set(groups[row].tolist())) == 3
        same = (features[row][:, None] == features[row][None]).all(axis=-1)
        np.testing.assert_array_equal(groups[row][:, None] == groups[row][None], same)


def test_each_token_has_its_mean_colour():
    picture = np.arange(4 * 6 * 3, dtype="uint8").reshape(4, 6, 3)
    groups = np.array([[0, 1, 0], [2, 2, 0]])
    painted = merged_picture(picture, groups)
    whole = np.kron(groups, np.ones((2, 2), int))
    for group in range(3):
        colours = painted[whole == group]
        assert (colours == np.rint(picture[whole == group].mean(axis=0))).all()


def test_a_model_that_merges_nothing():
    with pytest.raises(ValueError, match="must merge tokens.*Received: ViT"):
        merged_patches(tiny(), images())
