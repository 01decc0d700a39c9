import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.layers.masking import (
    PatchMask,
    PatchNoise,
    RestoredTokens,
    VisibleTokens,
    masking,
)

RANDOM = np.random.default_rng(4)
TOKENS = RANDOM.normal(size=(3, 8, 5)).astype("float32")
NOISE = RANDOM.permuted(np.tile(np.arange(7, dtype="float32"), (3, 1)), axis=1)


def test_golden_masking():
    noise = np.array([[0.5, 0.1, 0.9, 0.3, 0.7, 0.2, 0.8, 0.4]])
    kept, restore, mask = masking(noise, 2)
    assert np.array(kept).tolist() == [[1, 5]]
    assert np.array(restore).tolist() == [[4, 0, 7, 2, 5, 1, 6, 3]]
    assert np.array(mask).tolist() == [[1, 0, 1, 1, 1, 0, 1, 1]]


def test_tokens_go_and_come_back():
    visible = VisibleTokens(3)(TOKENS, NOISE)
    layer = RestoredTokens(3)
    back = np.array(layer(visible, NOISE))
    gone = np.array(PatchMask(3)(NOISE)) == 1
    np.testing.assert_array_equal(back[:, 0], TOKENS[:, 0])
    for row in range(3):
        order = np.argsort(NOISE[row])
        np.testing.assert_array_equal(visible[row, 1:], TOKENS[row, 1:][order[:3]])
        assert gone[row].sum() == 4 and set(order[3:]) == set(np.flatnonzero(gone[row]))
        np.testing.assert_array_equal(back[row, 1:][~gone[row]], TOKENS[row, 1:][~gone[row]])
        for patch in back[row, 1:][gone[row]]:
            np.testing.assert_array_equal(patch, np.array(layer.mask_token)[0, 0])


def test_half_precision_does_not_touch_the_noise():
    """Numbers that are one in bfloat16 still tell the patches apart."""
    noise = np.float32(1) + NOISE * np.float32(1e-6)
    visible = VisibleTokens(3, dtype="mixed_bfloat16")(tf.cast(TOKENS, "bfloat16"), noise)
    assert visible.dtype == "bfloat16"
    np.testing.assert_array_equal(visible, VisibleTokens(3)(tf.cast(TOKENS, "bfloat16"), NOISE))


def test_compiled_equals_eager():
    layers = VisibleTokens(3), RestoredTokens(3)
    whole = lambda tokens, noise: layers[1](layers[0](tokens, noise), noise)  # noqa: E731
    expected = whole(TOKENS, NOISE)
    compiled = tf.function(whole, jit_compile=True, autograph=False)
    np.testing.assert_array_equal(compiled(TOKENS, NOISE), expected)


def test_noise_is_new_in_training_and_the_same_elsewhere():
    layer = PatchNoise(seed=3)
    still = np.array(layer(TOKENS))
    np.testing.assert_array_equal(layer(TOKENS), still)
    one, other = (np.array(layer(TOKENS, training=True)) for _ in range(2))
    assert one.shape == (3, 8) and 0 <= one.min() and one.max() < 1
    assert np.abs(one - other).max() > 0.1 and np.abs(one - still).max() > 0.1
    assert np.abs(one[0] - one[1]).max() > 0.1


@pytest.mark.parametrize("kind", [VisibleTokens, RestoredTokens, PatchMask])
def test_config(kind):
    layer = kind(3, name="part")
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert again.keep == 3 and again.get_config() == layer.get_config()
