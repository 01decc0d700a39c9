import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.layers import SpaceTimeBlock
from tests.contract.test_contract import randomised

TOKENS = np.random.default_rng(7).normal(size=(2, 19, 14)).astype("float32")


def made():
    """A block on a class token and 3 frames of 6 places."""
    block = SpaceTimeBlock(num_heads=2, mlp_dim=11, frames=3, name="block")
    inputs = keras.Input(TOKENS.shape[1:])
    randomised(keras.Model(inputs, block(inputs)))
    return block


def moved_by_a_change(step):
    """The tokens that `step` gives another value when place 2 of frame 1 is changed."""
    changed = TOKENS.copy()
    changed[:, 1 + 6 + 2] += np.arange(14)
    before, after = (
        ops.convert_to_numpy(step(ops.convert_to_tensor(x))) for x in (TOKENS, changed)
    )
    return set(np.flatnonzero(np.abs(after - before).max(axis=(0, 2)) > 1e-6))


def test_over_time_a_place_sees_itself_alone_and_the_class_token_nothing():
    assert moved_by_a_change(made()._over_time) == {1 + frame * 6 + 2 for frame in range(3)}


def test_over_space_a_frame_sees_itself_alone_and_the_class_token_all():
    block = made()
    found = moved_by_a_change(lambda tokens: block._over_space(tokens, training=False))
    assert found == {0, *range(7, 13)}


def test_a_new_block_does_what_the_image_models_does():
    """The projection after the attention over time starts at zero."""
    block = SpaceTimeBlock(num_heads=2, mlp_dim=11, frames=3)
    block.build((None, 19, 14))
    np.testing.assert_array_equal(block._over_time(ops.convert_to_tensor(TOKENS)), TOKENS)


def test_attention_over_space():
    found = ops.convert_to_numpy(made().attention_probabilities(TOKENS))
    assert found.shape == (2 * 3, 2, 7, 7)
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-5)


@pytest.mark.parametrize(("count", "frames"), [(18, 3), (1, 3), (1, 1)])
def test_a_block_wants_a_class_token_and_whole_frames(count, frames):
    block = SpaceTimeBlock(num_heads=2, mlp_dim=8, frames=frames)
    with pytest.raises(ValueError, match=f"Received: {count} tokens, frames={frames}"):
        block.build((None, count, 14))
