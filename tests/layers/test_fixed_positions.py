import numpy as np

from keras_vit.layers.fixed_positions import FixedPatchEncoder, FixedPositions, mae_positions

GOLDEN = [0.909297, 0.019999, -0.416147, 0.9998, 0.841471, 0.01, 0.540302, 0.99995]


def test_golden_table():
    table = mae_positions((2, 3), 8)
    assert table.shape == (1, 7, 8) and not table[0, 0].any()
    np.testing.assert_allclose(table[0, 6], GOLDEN, atol=1e-6)


def test_positions_are_added_and_not_trained():
    tokens = np.random.default_rng(0).normal(size=(2, 7, 8)).astype("float32")
    layer = FixedPositions((2, 3))
    np.testing.assert_allclose(layer(tokens), tokens + mae_positions((2, 3), 8), atol=1e-6)
    assert [weight.path.split("/")[-1] for weight in layer.weights] == ["position"]
    assert not layer.trainable_weights


def test_an_encoder_with_fixed_positions():
    patches = np.random.default_rng(0).normal(size=(2, 6, 5)).astype("float32")
    layer = FixedPatchEncoder(8, (2, 3))
    tokens = np.array(layer(patches))
    np.testing.assert_array_equal(tokens[:, 0], np.repeat(layer.class_token[0], 2, axis=0))
    expected = layer.projection(patches) + mae_positions((2, 3), 8)[:, 1:]
    np.testing.assert_allclose(tokens[:, 1:], expected, atol=1e-6)
    assert "position" not in [weight.name for weight in layer.trainable_weights]
    assert "position" in [weight.name for weight in layer.weights]
