"""Relevance against numpy, with gradients by finite differences."""

import numpy as np
import pytest

from keras_vit.explain.blocks import blocks
from keras_vit.explain.relevance import (
    attention_gradients,
    attention_relevance,
    relevance,
    with_attention,
)
from tests.explain.tiny import images, run, tiny

STEP = 1e-5
CASES = {
    "class token": ("vit_ti16", {}),
    "distilled": ("deit_ti16", {}),
    "registers and layer scale": ("dinov2_s14_reg", {"registers": 2}),
    "mean": ("vit_ti16", {"pooling": "gap", "class_token": False}),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def model(request):
    name, fields = request.param
    return tiny(name, depth=2, **fields)


def finite_differences(model, pictures, block, entries, classes):
    """The gradient of the logit of `classes` at some entries of a block's attention."""
    shape = run(model, pictures)[0][block].shape[1:]
    rows = np.arange(len(pictures))
    found = []
    for entry in entries:
        change = np.zeros(shape)
        change[entry] = STEP
        up, down = (run(model, pictures, (block, sign * change))[1] for sign in (1, -1))
        found.append((up - down)[rows, classes] / (2 * STEP))
    return np.stack(found, axis=1)


def test_gradients_are_those_of_finite_differences(model):
    pictures, classes = images(), np.array([4, 1])
    _, gradients = attention_gradients(model, pictures, classes)
    for index, gradient in enumerate(gradients):
        every = list(np.ndindex(gradient.shape[1:]))
        entries = [every[i] for i in np.random.default_rng(index).permutation(len(every))[:40]]
        expected = finite_differences(model, pictures, index, entries, classes)
        found = np.stack([gradient[:, *entry] for entry in entries], axis=1)
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_a_map_is_the_rule_in_numpy_for_the_likeliest_class(model):
    pictures = images()
    attentions, logits = run(model, pictures)
    _, gradients = attention_gradients(model, pictures, logits.argmax(axis=1))
    config = model.config
    expected = []
    for b in range(2):
        total = np.eye(attentions[0].shape[-1])
        for attention, gradient in zip(attentions, gradients, strict=True):
            heads = [np.maximum(g * a, 0) for g, a in zip(gradient[b], attention[b], strict=True)]
            total = total + sum(heads) / len(heads) @ total
        rows = [0, 1] if "deit" in model.name else [0]
        rows = rows if config.pooling == "token" else range(config.num_prefix, len(total))
        expected.append(np.mean([total[row, config.num_prefix :] for row in rows], axis=0))
    found = relevance(model, pictures)
    assert found.min() >= 0
    np.testing.assert_allclose(found, np.reshape(expected, (2, 2, 3)), rtol=1e-8)


def test_a_block_with_its_own_attention_is_the_block(model):
    for block in blocks(model, images()).values():
        weights = block.layer.attention_probabilities(block.tokens)
        result = with_attention(block.layer, block.tokens, weights)
        np.testing.assert_allclose(result, block.layer(block.tokens), rtol=1e-10)


def test_the_class_matters_and_must_exist():
    model, pictures = tiny(depth=1), images(1)
    assert np.ptp([relevance(model, pictures, [c]) for c in range(5)], axis=0).max() > 1e-3
    for wrong in ([5], [-1], [0, 1], 2):
        with pytest.raises(ValueError, match="`classes` must hold one class of 0 to 4 for each"):
            relevance(model, pictures, wrong)


@pytest.mark.parametrize("fields", [{"num_classes": 0}, {"pooling": "none"}])
def test_a_model_without_logits_of_a_picture_is_an_error(fields):
    with pytest.raises(ValueError, match="Relevance explains the logit of a class"):
        relevance(tiny(depth=1, **fields), images(1))


def test_half_precision_gives_nearly_the_same_map():
    exact, half = tiny(depth=1), tiny(dtype="mixed_bfloat16", depth=1)
    first, second = relevance(exact, images(1), [2]), relevance(half, images(1), [2])
    np.testing.assert_allclose(second, first, atol=0.05 * first.max())


def test_no_block_and_unequal_lists_are_errors():
    for attentions, gradients in (([], []), ([np.ones((1, 1, 2, 2))], [])):
        with pytest.raises(ValueError, match="one array a block, of one block or more"):
            attention_relevance(attentions, gradients)
