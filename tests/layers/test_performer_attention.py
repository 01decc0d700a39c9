import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.layers import Attention, PerformerAttention
from keras_vit.layers.random_features import orthogonal_directions
from tests.contract.test_contract import randomised

TOKENS = np.random.default_rng(3).normal(size=(2, 9, 12)).astype("float32")


def built(kind, **options):
    layer = kind(num_heads=2, **options)
    layer.build(TOKENS.shape)
    return layer


def test_with_many_features_it_is_the_softmax():
    softmax, performer = built(Attention), built(PerformerAttention, random_features=2048, seed=5)
    for ours, theirs in zip(performer.trainable_weights, softmax.weights, strict=True):
        assert ours.path.split("/", 1)[1] == theirs.path.split("/", 1)[1]
        ours.assign(theirs)
    tokens = TOKENS / 4  # small scores: for large ones no number of features is enough
    expected = ops.convert_to_numpy(softmax(tokens))
    found = ops.convert_to_numpy(performer(tokens))
    assert np.linalg.norm(found - expected) < 0.05 * np.linalg.norm(expected)


def test_the_directions_are_kept_and_not_trained():
    layer = built(PerformerAttention, random_features=7, seed=5)
    (directions,) = layer.non_trainable_weights
    expected = orthogonal_directions(np.random.default_rng(5), 7, 6).astype("float32")
    np.testing.assert_array_equal(directions, expected)
    np.testing.assert_array_equal(layer(TOKENS), layer(TOKENS, training=True))
    layer.redraw(np.random.default_rng(8))
    assert np.abs(ops.convert_to_numpy(directions) - expected).max() > 0.1
    assert built(PerformerAttention).directions.shape == (10, 6)  # 6 * ln(6)


def test_half_precision_keeps_the_directions():
    layer = PerformerAttention(2, random_features=7, seed=5, dtype="mixed_bfloat16")
    inputs = keras.Input(TOKENS.shape[1:])
    model = randomised(keras.Model(inputs, layer(inputs)))
    full = PerformerAttention(2, random_features=7, seed=5)
    full.build(TOKENS.shape)
    full.set_weights(model.get_weights())
    assert layer.directions.dtype == "float32"
    half = np.asarray(ops.cast(model(TOKENS), "float32"))
    assert np.abs(half - ops.convert_to_numpy(full(TOKENS))).max() < 0.05


def test_it_has_no_probabilities():
    with pytest.raises(ValueError, match="never forms the probabilities"):
        built(PerformerAttention).probabilities(TOKENS)
    with pytest.raises(ValueError, match="`dropout` of attention must be 0.*Received: 0.1"):
        PerformerAttention(2, dropout=0.1)
    with pytest.raises(ValueError, match=r"`kernel` must be one of \['exponential', 'relu'\]"):
        PerformerAttention(2, kernel="softmax")
