import keras
import numpy as np

from keras_vit import create_model
from keras_vit.training.optimizers import adamw, decays


def small_vit():
    return create_model(
        "vit_ti16", image_size=8, patch_size=4, width=12, depth=1, num_classes=3, mlp_dim=24,
        registers=1, layer_scale=0.1, representation_size=5,
    )  # fmt: skip


def test_kernels_decay_and_nothing_else_does():
    paths = {variable.path for variable in small_vit().trainable_variables if decays(variable)}
    assert paths == {
        "patch_encoder/projection/kernel",
        "block_0/attention/qkv/kernel",
        "block_0/attention/out/kernel",
        "block_0/mlp/fc1/kernel",
        "block_0/mlp/fc2/kernel",
        "representation/kernel",
        "head/kernel",
    }


def test_two_steps_equal_float64_numpy():
    model = small_vit()
    rng = np.random.default_rng(3)
    for variable in model.trainable_variables:
        variable.assign(rng.normal(size=variable.shape))
    weights = [np.asarray(v, "float64") for v in model.trainable_variables]
    decayed = [v.name == "kernel" for v in model.trainable_variables]
    first = [np.zeros_like(w) for w in weights]
    second = [np.zeros_like(w) for w in weights]
    optimizer = adamw(model, learning_rate=0.01, weight_decay=0.3, clip_norm=1.0, beta_2=0.99)
    for step in (1, 2):
        gradients = [rng.normal(size=w.shape) for w in weights]
        optimizer.apply([keras.ops.convert_to_tensor(g, "float32") for g in gradients])
        norm = np.sqrt(sum((g**2).sum() for g in gradients))
        for i, gradient in enumerate(gradients):
            gradient = gradient / max(norm, 1.0)
            weights[i] -= 0.01 * 0.3 * weights[i] * decayed[i]
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.99 * second[i] + 0.01 * gradient**2
            # Keras adds epsilon before the correction of the second moment, as the Adam paper's
            # second form does.
            rate = 0.01 * np.sqrt(1 - 0.99**step) / (1 - 0.9**step)
            weights[i] -= rate * first[i] / (np.sqrt(second[i]) + 1e-8)
    for variable, expected in zip(model.trainable_variables, weights, strict=True):
        np.testing.assert_allclose(np.asarray(variable), expected, atol=2e-6, err_msg=variable.path)
