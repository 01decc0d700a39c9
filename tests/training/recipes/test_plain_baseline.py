import keras
import numpy as np

from keras_vit import create_model
from keras_vit.training import RECIPES
from keras_vit.training.optimizers import optimizer_of
from keras_vit.training.schedules import SCHEDULES

# As big_vision's config states them.
PEAK, DECAY, WARMUP, STEPS = 1e-3, 1e-4, 3, 9


def test_decay_and_rate_are_big_visions():
    """Its update in float64: Adam's step times the rate, and `DECAY` times the schedule relative to
    its peak, on kernels alone. Keras multiplies its own figure by the rate."""
    recipe = RECIPES["plain_s16_90"]
    model = create_model(
        recipe.model,
        **{**recipe.config, "image_size": 8, "patch_size": 4, "width": 12, "depth": 1},
        num_classes=3,
        num_heads=2,
        mlp_dim=13,
    )
    assert (recipe.learning_rate, recipe.clip_norm) == (PEAK, 1.0)
    rate = SCHEDULES[recipe.schedule](recipe.learning_rate, STEPS, WARMUP)
    optimizer = optimizer_of(model, recipe, rate)
    rng = np.random.default_rng(3)
    weights = model.trainable_variables
    for variable in weights:
        variable.assign(rng.normal(size=variable.shape))
    expected = [np.asarray(variable, "float64") for variable in weights]
    first, second = ([np.zeros_like(value) for value in expected] for _ in range(2))
    for step in range(6):
        progress = max(step - WARMUP, 0) / (STEPS - WARMUP)
        relative = 0.5 * (1 + np.cos(np.pi * progress)) * min(1, step / WARMUP)
        gradients = [rng.normal(size=value.shape) for value in expected]
        optimizer.apply([keras.ops.cast(gradient, "float32") for gradient in gradients])
        for i, gradient in enumerate(gradients):
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.999 * second[i] + 0.001 * gradient**2
            adam = first[i] / (1 - 0.9 ** (step + 1))
            adam /= np.sqrt(second[i] / (1 - 0.999 ** (step + 1))) + 1e-8
            decay = DECAY * expected[i] if weights[i].path.endswith("/kernel") else 0.0
            expected[i] = expected[i] - relative * (PEAK * adam + decay)
    for variable, value in zip(weights, expected, strict=True):
        np.testing.assert_allclose(np.asarray(variable), value, atol=3e-6, err_msg=variable.path)


def test_the_mlp_head_has_the_models_width():
    recipe = RECIPES["plain_s16_300"]
    assert recipe.config["representation_size"] == 384 and recipe.epochs == 300
