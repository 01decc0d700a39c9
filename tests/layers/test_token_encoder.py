import numpy as np

from keras_vit.layers import TokenEncoder

TEXTS = np.array([[4, 0, 2], [1, 1, 10]])


def test_against_numpy():
    layer = TokenEncoder(width=6, vocabulary_size=11)
    tokens = layer(TEXTS)
    table, places = (np.asarray(weight) for weight in layer.weights)
    assert table.shape == (11, 6) and places.shape == (1, 3, 6)
    np.testing.assert_array_equal(tokens, table[TEXTS] + places)


def test_start_values():
    layer = TokenEncoder(width=64, vocabulary_size=500)
    layer.build((None, 77))
    table, places = (np.asarray(weight) for weight in layer.weights)
    assert abs(table.std() - 0.02) < 0.001 and abs(places.std() - 0.01) < 0.001
