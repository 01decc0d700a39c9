"""Principal components against scikit-learn's."""

import keras
import numpy as np
import pytest
from sklearn.decomposition import PCA

from keras_vit.explain.pca import patch_colours, principal_components
from keras_vit.factory import create_model
from tests.explain.tiny import images, tiny


@pytest.mark.parametrize("shape", [(29, 7), (5, 11)])
def test_equals_scikit_learn_up_to_the_sign(shape):
    features = np.random.default_rng(1).normal(size=shape) * np.arange(1, shape[1] + 1)
    found, fitted = principal_components(features), PCA(3, svd_solver="full").fit(features)
    expected = fitted.transform(features)
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, signs * expected, rtol=1e-9, atol=1e-9)
    # The sign is that of the largest weight.
    largest = [axis[np.abs(axis).argmax()] for axis in fitted.components_]
    np.testing.assert_array_equal(signs, np.sign(largest))


def test_missing_components_are_zero():
    found = principal_components(np.array([[1.0, 1.0], [3.0, 1.0]]))
    np.testing.assert_allclose(found, [[-1, 0, 0], [1, 0, 0]], atol=1e-12)


@pytest.mark.parametrize("block", [None, "block_1"])
def test_colours_are_the_components_over_all_images(block):
    model, pictures = tiny(registers=1), images()
    if block is None:
        tokens = np.asarray(model.features(pictures)["tokens"])
    else:
        x = model.get_layer("patch_encoder")(model.get_layer("patches")(pictures))
        for name in ("block_0", "block_1"):
            x = model.get_layer(name)(x)
        tokens = np.asarray(x)[:, 2:]
    parts = principal_components(tokens.reshape(12, 12))
    expected = 255 * (parts - parts.min(axis=0)) / np.ptp(parts, axis=0)
    colours = patch_colours(model, pictures, block)
    assert colours.dtype == "uint8" and colours.shape == (2, 2, 3, 3)
    np.testing.assert_array_equal(colours.reshape(12, 3), np.rint(expected))
    assert colours.min() == 0 and colours.max() == 255


def test_a_map_of_stages_is_coloured_pixel_by_pixel():
    sizes = dict(width=8, depths=(1, 1), num_heads=(2, 2), window_size=2, num_classes=2)
    model = create_model("swin_t", image_size=32, **sizes)
    pictures = np.random.default_rng(0).normal(size=(1, 32, 32, 3)).astype("float32")
    features = np.asarray(keras.Model(model.input, model.get_layer("block_0").output)(pictures))
    colours = patch_colours(model, pictures, "block_0")
    assert features.shape == (1, 8, 8, 8) and colours.shape == (1, 8, 8, 3)
    brightest = principal_components(features.reshape(64, 8))[:, 0].argmax()
    assert colours.reshape(64, 3)[brightest, 0] == 255
    for block in ("head", None):
        with pytest.raises(ValueError, match=f"`block` must name a layer.*Received: {block!r}"):
            patch_colours(model, pictures, block)
    with pytest.raises(ValueError, match="`block` must be one of .*block_0.* Received: 'blck'"):
        patch_colours(model, pictures, "blck")
