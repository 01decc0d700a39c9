import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.layers import PatchEncoder, sincos2d
from keras_vit.layers.patch_encoder import POSITIONS
from tests.layers.arrays import arrays, close, random_weights


def encoded(**options):
    """The weights, the projected patches and the tokens of a random encoder."""
    layer = PatchEncoder(12, (3, 5), **options)
    (patches,) = arrays((2, 15, 7))
    layer.build(patches.shape)
    weights = random_weights(layer)
    projected = patches @ weights["projection/kernel"] + weights["projection/bias"]
    return weights, projected, ops.convert_to_numpy(layer(patches)).astype("float64")


def test_tokens_come_as_class_registers_patches():
    weights, projected, tokens = encoded(registers=2)
    assert tokens.shape == (2, 1 + 2 + 15, 12)
    position = weights["position"][0]
    assert position.shape == (16, 12)
    for example, content in zip(tokens, projected, strict=True):
        assert close(example[0], weights["class_token"][0, 0] + position[0])
        assert close(example[1:3], weights["registers"][0])  # registers get no position
        assert close(example[3:], content + position[1:])


def test_class_token_without_a_position_of_its_own():
    weights, projected, tokens = encoded(class_position=False)
    assert weights["position"].shape == (1, 15, 12)
    assert close(tokens[0, 0], weights["class_token"][0, 0])
    assert close(tokens[:, 1:], projected + weights["position"])


def test_no_class_token_needs_no_class_position():
    weights, projected, tokens = encoded(class_token=False)
    assert set(weights) == {"projection/kernel", "projection/bias", "position"}
    assert close(tokens, projected + weights["position"])


def test_fixed_positions_are_no_weight():
    weights, projected, tokens = encoded(position="sincos2d")
    assert "position" not in weights
    assert close(tokens[:, 1:], projected + sincos2d((3, 5), 12))
    assert close(tokens[0, 0], weights["class_token"][0, 0])


def test_without_positions():
    weights, projected, tokens = encoded(position="none", class_token=False)
    assert set(weights) == {"projection/kernel", "projection/bias"}
    assert close(tokens, projected)


def test_starting_values():
    layer = PatchEncoder(64, (7, 11), registers=5)
    layer.build((None, 77, 48))
    values = {weight.name: ops.convert_to_numpy(weight) for weight in layer.weights}
    assert not values["class_token"].any()
    assert 0.017 < values["registers"].std() < 0.023
    assert 0.017 < values["position"].std() < 0.023
    # LeCun: variance 1 / (p * p * c) = 1 / 48.
    assert abs(values["kernel"].std() * 48**0.5 - 1) < 0.05


def test_number_of_prefix_tokens():
    assert PatchEncoder(8, (2, 3)).num_prefix == 1
    assert PatchEncoder(8, (2, 3), class_token=False, registers=3).num_prefix == 3


def test_an_unknown_position_lists_the_known():
    with pytest.raises(ValueError, match="`position` must be one of") as caught:
        PatchEncoder(8, (2, 3), position="rotary")
    assert all(repr(kind) in str(caught.value) for kind in POSITIONS)
    assert "Received: 'rotary'" in str(caught.value)


@pytest.mark.parametrize("shape", [(None, 7, 48), (None, 2, 3, 48)])
def test_the_patches_must_be_those_of_the_grid(shape):
    message = r"`patches` must have the shape \[b, 6, p \* p \* c\] for a grid of 2 x 3"
    with pytest.raises(ValueError, match=message):
        PatchEncoder(8, (2, 3))(keras.Input(shape[1:]))


def test_sincos_needs_a_multiple_of_four():
    with pytest.raises(ValueError, match="`width` must be a multiple of 4"):
        PatchEncoder(14, (2, 3), position="sincos2d").build((None, 6, 48))


def test_the_batch_may_be_empty():
    assert np.shape(PatchEncoder(8, (2, 3))(np.zeros((0, 6, 48), "float32"))) == (0, 7, 8)
