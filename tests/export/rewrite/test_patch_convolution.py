"""Patches, projection and normalisation as one convolution: exact, and one operator."""

import keras
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.export.rewrite import patch_convolution
from tests.small_vit import small_vit

CASES = {
    "square": {},
    "class_token_registers": {"pooling": "token", "registers": 2},
    "rectangle": {"image_size": (12, 20), "patch_size": (3, 5), "channels": 2},
    "map_sincos": {"pooling": "map", "position": "sincos2d"},
    "no_position": {"position": "none", "pooling": "gap_then_norm"},
    "dropouts": {"dropout": 0.3, "drop_path": 0.4, "attention_dropout": 0.2},
    "representation": {"representation_size": 11, "layer_scale": 0.1, "class_position": False},
}


def randomised(**fields):
    sizes = {"image_size": (16, 16), "patch_size": (4, 4), "channels": 3, **fields}
    channels = sizes["channels"]
    model = create_model(
        "vit_ti16",
        **{"width": 24, "depth": 2, "num_heads": 3, "mlp_dim": 48, "num_classes": 7, **sizes},
        preprocessing={
            "mean": (0.485, 0.456, 0.406)[:channels],
            "std": (0.229, 0.224, 0.225)[:channels],
        },
    )
    generator = np.random.default_rng(3)
    for weight in model.weights:
        value = generator.normal(0, 0.2, weight.shape)
        weight.assign(value + 1 if weight.path.endswith("gamma") else value)
    return model


@pytest.mark.parametrize("case", CASES)
def test_raw_pixels_give_the_models_own_logits(case):
    model = randomised(**CASES[case])
    rewritten = patch_convolution(model)
    pixels = np.random.default_rng(1).uniform(0, 255, (3, *model.input_shape[1:]))
    pixels = pixels.astype("float32")
    expected = keras.ops.convert_to_numpy(model(model.preprocessing.normalize(pixels)))
    found = keras.ops.convert_to_numpy(rewritten(pixels, training=True))
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


def test_only_the_patches_change():
    model = randomised(dropout=0.1)
    rewritten = patch_convolution(model)
    names = [layer.name for layer in rewritten.layers]
    assert names == [layer.name for layer in model.layers]
    shapes = {weight.path: tuple(weight.shape) for weight in rewritten.weights}
    assert shapes["patches/projection/kernel"] == (4, 4, 3, 24)
    assert not [path for path in shapes if path.startswith("patch_encoder/projection")]
    assert len(rewritten.weights) == len(model.weights)


def test_a_model_without_patches_is_refused():
    inputs = keras.Input((8, 8, 3))
    plain = keras.Model(inputs, keras.layers.Flatten()(inputs), name="plain")
    with pytest.raises(ValueError, match="'plain' with 0 `Patches` and 0 `PatchEncoder`"):
        patch_convolution(plain)


def test_a_model_without_preprocessing_is_refused():
    model = small_vit()
    graph = keras.Model(model.inputs, model.outputs, name="graph")
    with pytest.raises(ValueError, match="`preprocessing`.*'graph' without one"):
        patch_convolution(graph)
