import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.layers import TokenDecision
from keras_vit.layers.token_decision import kept_by_rank, straight_through
from tests.layers.arrays import arrays, close

tf = pytest.importorskip("tensorflow")


def test_straight_through_against_numpy():
    """The value is hard; the gradient is that of the softmax."""
    logits, noise, force = arrays((4, 7, 2), (4, 7, 2), (4, 7, 2))
    variable = tf.Variable(logits)
    with tf.GradientTape() as tape:
        chosen = straight_through(variable, noise)
        loss = tf.reduce_sum(chosen * force)
    exact = logits.astype("float64") + noise
    soft = np.exp(exact) / np.exp(exact).sum(-1, keepdims=True)
    hard = (soft == soft.max(-1, keepdims=True)).astype("float64")
    np.testing.assert_allclose(chosen, hard, atol=1e-6)
    expected = soft * (force - (soft * force).sum(-1, keepdims=True))
    assert close(tape.gradient(loss, variable), expected)


def test_rank_among_those_still_kept():
    scores = np.array([[0.1, 0.9, 0.5, 0.7, 0.2]], "float32")
    kept = np.array([[1, 0, 1, 1, 1]], "float32")
    assert ops.convert_to_numpy(kept_by_rank(scores, kept, 2)).tolist() == [[0, 0, 1, 1, 0]]


def test_tokens_are_kept_as_often_as_their_probability_says():
    share = np.array([0.2, 0.9])
    scores = np.log(np.stack([share, 1 - share], axis=-1)).astype("float32")
    scores = np.broadcast_to(scores, (4000, 2, 2))
    drawn = ops.convert_to_numpy(TokenDecision(1, seed=5)(scores, training=True))
    assert set(np.unique(drawn.round(6))) == {0.0, 1.0}
    np.testing.assert_allclose(drawn.mean(axis=0)[:, 0], share, atol=0.03)


def test_what_is_dropped_stays_dropped():
    scores = np.log(np.full((50, 6, 2), 0.5, "float32"))
    before = np.random.default_rng(3).integers(0, 2, (50, 6, 1)).astype("float32")
    drawn = ops.convert_to_numpy(TokenDecision(1, seed=5)(scores, before, training=True))
    assert drawn[before == 0].max() == 0 and 0.3 < drawn[before == 1].mean() < 0.7


def test_scores_stay_exact_in_half_precision():
    near = np.array([[[-0.5, 0], [-0.5 + 1e-4, 0], [-0.5 - 1e-4, 0]]], "float32")
    layer = TokenDecision(1, dtype="mixed_bfloat16")
    kept = layer(near)
    assert keras.backend.standardize_dtype(kept.dtype) == "float32"
    assert ops.convert_to_numpy(kept)[0, :, 0].tolist() == [0, 1, 0]
