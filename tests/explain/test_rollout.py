"""Attention rollout against a loop in float64 and against attention taken by hand."""

import keras
import numpy as np
import pytest

from keras_vit.explain.rollout import attention_rollout, rollout
from keras_vit.factory import create_model

SMALL = dict(width=12, depth=3, num_heads=2, mlp_dim=24, num_classes=5, patch_size=(4, 6))


def random_attentions(rng, count, batch, n):
    scores = rng.uniform(size=(count, batch, n, n))
    return list(scores / scores.sum(axis=-1, keepdims=True))


def oracle(attentions):
    """The sum over all paths through the blocks, one token at a time."""
    batch, n, _ = attentions[0].shape
    result = np.zeros((batch, n, n))
    for b in range(batch):
        for i in range(n):
            flow = np.zeros(n)
            flow[i] = 1.0
            for attention in reversed(attentions):
                passed = np.zeros(n)
                for j in range(n):
                    for k in range(n):
                        passed[k] += flow[j] * (attention[b, j, k] + (j == k)) / 2
                flow = passed
            result[b, i] = flow
    return result


def test_equals_the_sum_over_all_paths(rng):
    attentions = random_attentions(rng, count=4, batch=2, n=7)
    np.testing.assert_allclose(attention_rollout(attentions), oracle(attentions), rtol=1e-12)


def test_rows_sum_to_one_even_when_the_input_rows_nearly_do(rng):
    attentions = [1.01 * a for a in random_attentions(rng, count=3, batch=2, n=5)]
    np.testing.assert_allclose(attention_rollout(attentions).sum(axis=-1), 1, rtol=1e-12)


def test_blocks_that_attend_to_themselves_change_nothing():
    identity = np.eye(5)[None]
    np.testing.assert_array_equal(attention_rollout([identity] * 3), identity)


def test_no_block_is_an_error():
    with pytest.raises(ValueError, match="one block or more"):
        attention_rollout([])


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"registers": 3},
        {"pooling": "gap"},
        {"pooling": "gap", "class_token": False},
        {"pooling": "map", "class_token": False},
        {"depth": 1},
    ],
)
def test_a_map_is_what_the_model_attends_to(rng, fields):
    model = create_model("vit_ti16", **(SMALL | {"image_size": (12, 30)} | fields))
    images = rng.normal(size=(2, 12, 30, 3)).astype("float32")

    tokens = model.get_layer("patch_encoder")(model.get_layer("patches")(images))
    attentions = []
    for index in range(model.config.depth):
        block = model.get_layer(f"block_{index}")
        attentions.append(np.mean(block.attention_probabilities(tokens), axis=1, dtype="float64"))
        tokens = block(tokens)
    flow = oracle(attentions)
    prefix = model.config.num_prefix
    row = flow[:, 0] if model.config.pooling == "token" else flow[:, prefix:].mean(axis=1)
    expected = row[:, prefix:].reshape(2, 3, 5)
    expected /= expected.sum(axis=(1, 2), keepdims=True)

    maps = rollout(model, images)
    np.testing.assert_allclose(maps, expected, rtol=1e-5)
    np.testing.assert_allclose(maps.sum(axis=(1, 2)), 1, rtol=1e-12)


def test_half_precision_gives_nearly_the_same_map(rng):
    images = rng.normal(size=(1, 8, 12, 3)).astype("float32")
    exact = create_model("vit_ti16", **SMALL, image_size=(8, 12))
    half = create_model("vit_ti16", dtype="mixed_bfloat16", **SMALL, image_size=(8, 12))
    half.set_weights(exact.get_weights())
    np.testing.assert_allclose(rollout(half, images), rollout(exact, images), rtol=0.02)


def test_a_model_without_blocks_is_an_error():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    with pytest.raises(ValueError, match="blocks all attend to all tokens"):
        rollout(model, np.zeros((1, 4), "float32"))
