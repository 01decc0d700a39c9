import numpy as np
import pytest
from keras import ops

from keras_vit.layers import TransformerBlock
from tests.layers.arrays import arrays, close, random_weights
from tests.oracles import vit_numpy


@pytest.mark.parametrize("layer_scale", [None, 0.5])
def test_against_numpy(layer_scale):
    layer = TransformerBlock(
        2, 11, layer_scale=layer_scale, activation="quick_gelu", norm_epsilon=1e-5
    )
    (x,) = arrays((3, 5, 14))
    layer.build(x.shape)
    weights = {f"block/{path}": value for path, value in random_weights(layer).items()}
    config = {"norm_epsilon": 1e-5, "activation": "quick_gelu", "layer_scale": layer_scale}
    assert close(layer(x), vit_numpy.block(x, weights, "block", config))


def test_an_unknown_mlp():
    with pytest.raises(ValueError, match="`mlp` must be one of"):
        TransformerBlock(2, 11, mlp="glu")


def test_attention_probabilities_are_of_the_normed_input():
    layer = TransformerBlock(2, 11)
    (x,) = arrays((3, 5, 14))
    layer.build(x.shape)
    random_weights(layer)
    ours = layer.attention_probabilities(x)
    assert ours.shape == (3, 2, 5, 5)
    assert close(ours, layer.attention.probabilities(layer.norm1(x)))


def test_drop_path_drops_branches_of_whole_examples():
    layer = TransformerBlock(2, 11, drop_path=0.5)
    (x,) = arrays((61, 5, 14))
    layer.build(x.shape)
    random_weights(layer)
    outputs = ops.convert_to_numpy(layer(x, training=True))
    untouched = [np.array_equal(output, value) for output, value in zip(outputs, x, strict=True)]
    assert 3 <= sum(untouched) <= 30  # both branches: a quarter of 61, four deviations of 3.4


@pytest.mark.parametrize("option", ["dropout", "attention_dropout", "drop_path"])
def test_noise_is_there_in_training_only(option):
    layer = TransformerBlock(2, 11, **{option: 0.5})
    (x,) = arrays((7, 5, 14))
    layer.build(x.shape)
    random_weights(layer)
    still = ops.convert_to_numpy(layer(x))
    np.testing.assert_array_equal(still, layer(x, training=False))
    assert not np.allclose(still, layer(x, training=True))


def test_layer_scale_starts_the_branches_small():
    layer = TransformerBlock(2, 11, layer_scale=0.0)
    (x,) = arrays((3, 5, 14))
    np.testing.assert_array_equal(layer(x), x)


def test_an_unknown_activation():
    with pytest.raises(ValueError, match="`activation` must be one of.*Received: 'swish'"):
        TransformerBlock(2, 11, activation="swish")
