"""What a step keeps, counted by hand where a hand can, and by growth."""

import keras
import numpy as np

from keras_vit import create_model
from keras_vit.training import adamw
from keras_vit.training.memory import kept_activations, step_memory

SIZES = {"image_size": 32, "patch_size": 8, "width": 24, "num_heads": 3, "mlp_dim": 48}


def test_a_dense_layer_by_hand():
    inputs = keras.Input((7,))
    hidden = keras.layers.Dense(5, activation="sigmoid")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(3)(hidden))
    # What sigmoid gave, for itself and for the second kernel; the inputs are there anyway.
    assert kept_activations(model, 11) == 4 * 11 * 5


def test_weights_gradients_and_moments():
    model = create_model("vit_ti16", **SIZES, depth=1, num_classes=3)
    model.get_layer("block_0").trainable = False
    count = sum(np.prod(weight.shape) for weight in model.weights)
    trained = sum(np.prod(weight.shape) for weight in model.trainable_variables)
    model.compile(adamw(model, 1e-3))
    found = step_memory(model, 4)
    assert trained < count
    assert found.weights == 4 * count and found.gradients == 4 * trained
    assert 0 <= found.optimizer - 8 * trained < 100  # and its step count
    total = found.weights + found.gradients + found.optimizer + found.activations
    assert found.total == total


def test_what_is_kept_grows_with_batch_and_depth_and_half_is_half():
    def kept(batch_size, depth, dtype=None):
        model = create_model("vit_ti16", **SIZES, depth=depth, num_classes=3, dtype=dtype)
        return kept_activations(model, batch_size)

    one, two = (kept(8, depth) for depth in (1, 2))
    tokens, width, mlp, heads = 17, 24, 48, 3
    # A block keeps at least what its products are made of, and scores.
    least = 8 * (tokens * (6 * width + mlp) + heads * tokens**2) * 4
    assert least < two - one < 3 * least
    assert kept(16, 2) > 1.9 * two
    assert kept(8, 2, "mixed_bfloat16") < 0.8 * two
