import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit import create_model
from keras_vit.training.optimizers import OPTIMIZERS, AdamW, adamw, decays, optimizer_of
from keras_vit.training.recipes import Recipe


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
    optimizer = adamw(model, learning_rate=0.01, weight_decay=0.3, beta_2=0.99)
    for step in (1, 2):
        gradients = [rng.normal(size=w.shape) for w in weights]
        optimizer.apply([keras.ops.convert_to_tensor(g, "float32") for g in gradients])
        for i, gradient in enumerate(gradients):
            weights[i] -= 0.01 * 0.3 * weights[i] * decayed[i]
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.99 * second[i] + 0.01 * gradient**2
            # Keras adds epsilon before the correction of the second moment, as the Adam paper's
            # second form does.
            rate = 0.01 * np.sqrt(1 - 0.99**step) / (1 - 0.9**step)
            weights[i] -= rate * first[i] / (np.sqrt(second[i]) + 1e-8)
    for variable, expected in zip(model.trainable_variables, weights, strict=True):
        np.testing.assert_allclose(np.asarray(variable), expected, atol=2e-6, err_msg=variable.path)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_the_fused_step_is_keras_own(jit_compile):
    """Ten steps of Keras's AdamW from the same weights, in one graph."""
    rng = np.random.default_rng(7)
    start = [rng.normal(size=shape).astype("float32") for shape in ((5, 3), (3,))]
    gradients = [[rng.normal(size=w.shape).astype("float32") for w in start] for _ in range(10)]

    def trained(kind):
        weights = [keras.Variable(w) for w in start]
        optimizer = kind(keras.optimizers.schedules.CosineDecay(0.1, 10), weight_decay=0.2)
        optimizer.build(weights)
        step = tf.function(lambda *g: optimizer.apply(list(g)), jit_compile=jit_compile)
        for gradient in gradients:
            step(*gradient)
        return weights + optimizer.variables

    for ours, keras_own in zip(trained(AdamW), trained(keras.optimizers.AdamW), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(keras_own), rtol=2e-5, atol=2e-6)


def test_a_step_is_one_operation_a_weight():
    model = small_vit()
    optimizer = adamw(model, 0.1, weight_decay=0.1)
    gradients = [tf.ones(variable.shape) for variable in model.trainable_variables]
    graph = tf.function(lambda *g: optimizer.apply(list(g))).get_concrete_function(*gradients).graph
    kinds = [operation.type for operation in graph.get_operations()]
    assert kinds.count("ResourceApplyAdam") == len(gradients)
    assert "Sqrt" not in kinds


def test_sparse_gradients_take_keras_way():
    table = keras.Variable(np.ones((4, 2), "float32"))
    optimizer = AdamW(0.1, weight_decay=0.0)
    optimizer.build([table])
    optimizer.apply([tf.IndexedSlices(tf.ones((1, 2)), tf.constant([2]), tf.constant([4, 2]))])
    moved = np.asarray(table) != 1
    np.testing.assert_array_equal(moved.any(axis=1), [False, False, True, False])


def test_sgd_is_keras_momentum_with_decay_on_kernels():
    model = small_vit()
    optimizer = OPTIMIZERS["sgd"](model, 0.1, weight_decay=0.2)
    start = {v.path: np.asarray(v, "float64") for v in model.trainable_variables}
    expected, speed = dict(start), {path: 0.0 for path in start}
    rng = np.random.default_rng(3)
    for _ in range(3):
        gradients = [rng.normal(size=v.shape) for v in model.trainable_variables]
        optimizer.apply([keras.ops.cast(g, "float32") for g in gradients])
        for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
            path = variable.path
            speed[path] = 0.9 * speed[path] - 0.1 * gradient
            expected[path] = expected[path] * (1 - 0.02 * decays(variable)) + speed[path]
    for variable in model.trainable_variables:
        np.testing.assert_allclose(variable, expected[variable.path], atol=2e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_recipe_names_its_optimizer(name):
    model = small_vit()
    optimizer = optimizer_of(model, Recipe("vit_ti16", optimizer=name, weight_decay=0.3), 0.25)
    assert type(optimizer).__name__.lower() == name.removesuffix("_95")
    assert float(optimizer.learning_rate) == 0.25 and optimizer.weight_decay == 0.3
    excluded = [v for v in model.trainable_variables if not optimizer._use_weight_decay(v)]
    assert excluded == [v for v in model.trainable_variables if not decays(v)]


def test_a_recipes_layer_decay_becomes_factors():
    model = small_vit()
    optimizer = optimizer_of(model, Recipe("vit_ti16", layer_decay=0.5), 0.1)
    assert optimizer.factors["head/kernel"] == 1 and optimizer.factors["block_0/norm1/beta"] == 0.5
